/**
 * Lists in Redis, one hash for each group:
 *
 * - `=<name>`: a value, as `<number> <until> <principal> <value>`
 * - `until`: expiry of the list
 * - `number`: number of the newest value
 * - `closed`: set once the list is closed
 *
 * The bytes of a value are counted for its principal before it is added. Redis expires a list on
 * its own. If it loses one earlier, its answers are lost, and people can answer again.
 */
import type { Appended, ListedValue, SagaStore } from '@mcp-saga/server/stores';
import type { Connection } from './connect.ts';
import type { Charged, CountBytes } from './redis-charges.ts';
import { clock, isRefusal, textsOf, whole } from './redis-values.ts';

/** Extends the life of a list. A list without `until` is new. */
const extend = `
local function extend(kept, to)
  local last = math.max(tonumber(kept or '0'), to)
  redis.call('HSET', KEYS[1], 'until', text(last))
  redis.call('PEXPIREAT', KEYS[1], text(last))
end
`;

const parse = `
local function parse(stored)
  return string.match(stored, '^(%d+) (%d+) (%S+) (.*)$')
end
`;

/** KEYS: list. ARGV: field of the name, value, expiry, greatest number of values, principal or '-'. */
const append: string = `${clock}${extend}${parse}
local kept = redis.call('HMGET', KEYS[1], ARGV[1], 'closed', 'until', 'number')
if kept[1] then
  local number, until_, principal, value = parse(kept[1])
  -- A repeated call after a dropped connection: two calls never add one value.
  return value == ARGV[2] and 'added' or 'taken'
end
if kept[2] then return 'closed' end
local count = redis.call('HLEN', KEYS[1]) - (kept[3] and 1 or 0) - (kept[4] and 1 or 0)
if count >= tonumber(ARGV[4]) then return 'full' end
if tonumber(ARGV[3]) <= now then return redis.error_reply(ahead) end
-- Not the count: values may have been discarded.
local number = text(tonumber(kept[4] or '0') + 1)
redis.call('HSET', KEYS[1], 'number', number)
redis.call('HSET', KEYS[1], ARGV[1], number .. ' ' .. ARGV[3] .. ' ' .. ARGV[5] .. ' ' .. ARGV[2])
extend(kept[3], tonumber(ARGV[3]))
return 'added'
`;

/** KEYS: list. */
const list = `return redis.call('HGETALL', KEYS[1])`;

/**
 * KEYS: list. ARGV: fields of names, each before its value. Returns the number of each discarded
 * value in ARGV, with its expiry and principal.
 */
const discard: string = `${parse}
local discarded = {}
for at = 1, #ARGV, 2 do
  local kept = redis.call('HMGET', KEYS[1], ARGV[at])[1]
  if kept then
    local number, until_, principal, value = parse(kept)
    if value == ARGV[at + 1] then
      redis.call('HDEL', KEYS[1], ARGV[at])
      table.insert(discarded, (at - 1) / 2)
      table.insert(discarded, until_)
      table.insert(discarded, principal)
    end
  end
end
return discarded
`;

/** KEYS: list. ARGV: expiry. */
const close: string = `${clock}${extend}
local kept = redis.call('HMGET', KEYS[1], 'until')
redis.call('HSET', KEYS[1], 'closed', '1')
extend(kept[1], tonumber(ARGV[1]))
return 1
`;

const results: readonly string[] = [
  'added',
  'taken',
  'closed',
  'full',
] satisfies readonly Appended[];

/** Creates the lists of a store in Redis. */
export function listsOn(
  { keys, run }: Connection,
  charge: CountBytes,
): Pick<SagaStore, 'append' | 'list' | 'discard' | 'close'> {
  return {
    append: async ({ group, name }, value, { expiresAtMs, maxValues, chargeTo }) => {
      const added: Charged | undefined =
        chargeTo === undefined
          ? undefined
          : { principal: chargeTo, bytes: value.length, untilMs: expiresAtMs };
      await charge(added, []);
      const bounds = [whole(expiresAtMs), whole(maxValues), chargeTo ?? '-'];
      const appended = run(append, [keys.list(group)], [`=${name}`, value, ...bounds]);
      const result = await appended.catch(async (error: unknown) => {
        // Without a reply, nobody knows whether the value is stored, and its bytes count.
        if (isRefusal(error)) await charge(undefined, [added]);
        throw error;
      });
      if (result !== 'added') await charge(undefined, [added]);
      if (results.includes(result as string)) return result as Appended;
      throw new TypeError('Unexpected reply from the Redis script of a list.');
    },
    list: async (group) => {
      const reply = textsOf(await run(list, [keys.list(group)], []));
      const fields = new Map<string, string>();
      for (let at = 0; at + 1 < reply.length; at += 2)
        fields.set(reply[at] ?? '', reply[at + 1] ?? '');
      const values = [...fields]
        .filter(([field]) => field.startsWith('='))
        .map(([field, stored]) => {
          const [, number, value = ''] = /^(\d+) \d+ \S+ ([^]*)$/.exec(stored) ?? [];
          return { number: Number(number), name: field.slice(1), value };
        })
        .toSorted((one, other) => one.number - other.number)
        .map(({ name, value }) => ({ name, value }));
      return { values, isClosed: fields.has('closed') };
    },
    discard: async (group, values) => {
      if (values.length === 0) return;
      const given = values.flatMap(({ name, value }) => [`=${name}`, value]);
      const reply = textsOf(await run(discard, [keys.list(group)], given));
      const charges: (Charged | undefined)[] = [];
      for (let at = 0; at + 2 < reply.length; at += 3)
        charges.push(chargedOf(values, reply.slice(at, at + 3)));
      await charge(undefined, charges);
    },
    close: async (group, expiresAtMs) =>
      void (await run(close, [keys.list(group)], [whole(expiresAtMs)])),
  };
}

/** The charge of a discarded value; undefined if nobody paid. */
function chargedOf(
  values: readonly ListedValue[],
  [index, untilMs, principal]: readonly (string | undefined)[],
): Charged | undefined {
  const bytes = values[Number(index)]?.value.length;
  if (bytes === undefined || principal === undefined || principal === '-') return undefined;
  return { principal, bytes, untilMs: Number(untilMs) };
}
