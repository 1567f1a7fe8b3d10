/**
 * Entries in Redis, one string key each: `<version> <written> <bytes> <until> <principal> <head>`.
 * The body has a key of its own, which may expire earlier. All keys of a group are on one node of a
 * cluster, because the group is in braces.
 *
 * Redis runs a script atomically. A full Redis checks only the first write of a script: a new entry
 * is written first, so a full Redis rejects it before any change; a replacement first deletes the
 * old body, so what has begun can always end. Numbers are formatted with %.0f, because Lua rounds
 * to 14 digits.
 *
 * The bytes of a principal are counted in another key (`redis-charges.ts`): those of a new entry
 * before it is written, and those of a replacement after it.
 */
import {
  skewMs,
  type Entry,
  type EntryKey,
  type SagaStore,
  type Written,
} from '@mcp-saga/server/stores';
import type { Connection } from './connect.ts';
import type { Charged, CountBytes } from './redis-charges.ts';
import { clock, isOne, isRefusal, textsOf, whole, type Texts } from './redis-values.ts';

const parse = `
local function parse(stored)
  return string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
end
`;

/**
 * KEYS: entry, body, and those of an outdated entry, if there is one. ARGV: head, body, '1' if there
 * is a body, expected version, expiry, expiry of the body, principal or '-', time of the host or ''.
 * Returns what happened, the time, and the version with the charges that were replaced, or the
 * stored entry with its body.
 */
const write: string = `${clock}${parse}
if ARGV[8] ~= '' and math.abs(now - ARGV[8]) > ${skewMs} then
  return redis.error_reply('MCPSAGA The clocks of Redis and of this host differ by more than ${skewMs / 1_000} s. Synchronize the clocks.')
end
local stored = redis.call('GET', KEYS[1])
local version, written, bytes, kept, principal, head = '0', '0', '0', '0', '-', nil
if stored then version, written, bytes, kept, principal, head = parse(stored) end
-- A repeated call after a dropped connection: two calls never write one value.
if head == ARGV[1] and (redis.call('GET', KEYS[2]) or '') == ARGV[2] then return {'written', text(now), version} end
if version ~= ARGV[4] then
  return {'other', text(now), stored or '', stored and redis.call('GET', KEYS[2])}
end
if tonumber(ARGV[5]) <= now then return redis.error_reply(ahead) end
-- Greater than all earlier versions, including expired ones.
local next = text(math.max(time[1] * 1000000 + time[2], version + 1))
local size = ARGV[3] == '1' and string.len(ARGV[2]) or 0
if stored then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[1], next .. ' ' .. text(now) .. ' ' .. size .. ' ' .. ARGV[6] .. ' ' .. ARGV[7] .. ' ' .. ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[5])
if ARGV[3] == '1' then
  redis.call('SET', KEYS[2], ARGV[2])
  redis.call('PEXPIREAT', KEYS[2], ARGV[6])
end
local replaced = {'written', text(now), next, principal, bytes, kept}
local outdated = KEYS[3] and stored and redis.call('GET', KEYS[3])
if outdated and redis.call('DEL', KEYS[4]) == 1 then
  local v, w, b, k, p, h = parse(outdated)
  local left = redis.call('PTTL', KEYS[3])
  redis.call('SET', KEYS[3], v .. ' ' .. w .. ' 0 ' .. k .. ' ' .. p .. ' ' .. h)
  redis.call('PEXPIRE', KEYS[3], left)
  table.insert(replaced, p)
  table.insert(replaced, b)
  table.insert(replaced, k)
end
return replaced
`;

/** KEYS: entry, body. ARGV: expected version. */
const remove: string = `${parse}
local stored = redis.call('GET', KEYS[1])
if not stored then return {0} end
local version, written, bytes, kept, principal = parse(stored)
if version ~= ARGV[1] then return {0} end
redis.call('DEL', KEYS[1], KEYS[2])
return {1, principal, bytes, kept}
`;

/** KEYS: entry, body. Returns the time, and the stored entry with its body. */
const read = `${clock}
return {'read', text(now), redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}`;

/** Creates the entries of a store in Redis. */
export function entriesOn(
  { keys, run }: Connection,
  charge: CountBytes,
): Pick<SagaStore, 'write' | 'remove' | 'read'> {
  const removed = async (key: EntryKey, version: number): Promise<boolean> => {
    const [isRemoved, ...old] = textsOf(await run(remove, keys.entry(key), [String(version)]));
    await charge(undefined, chargesIn(old));
    return isOne(isRemoved);
  };
  return {
    write: async (key, { head, body }, expected, bounds): Promise<Written> => {
      const { expiresAtMs, bodyExpiresAtMs = expiresAtMs, charge: charged } = bounds;
      const { nowMs: host, outdated } = bounds;
      const untilMs = Math.min(bodyExpiresAtMs, expiresAtMs);
      const added: Charged | undefined = charged && {
        principal: charged.to,
        bytes: body?.length ?? 0,
        untilMs,
      };
      const isNew = expected === 0;
      // Other requests must not see an entry that the limit of its principal would remove again.
      if (isNew && !(await charge(added, [], charged?.limit))) {
        const [, nowMs = '', stored, storedBody] = textsOf(await run(read, keys.entry(key), []));
        const entry = entryOf(stored, storedBody);
        return entry === undefined
          ? { status: 'full', nowMs: Number(nowMs) }
          : { status: 'other', entry, nowMs: Number(nowMs) };
      }
      const places = outdated === undefined ? [] : keys.entry({ ...key, name: outdated });
      const written = run(
        write,
        [...keys.entry(key), ...places],
        [
          head,
          body ?? '',
          body === undefined ? '0' : '1',
          String(expected),
          whole(expiresAtMs),
          whole(untilMs),
          charged?.to ?? '-',
          host === undefined ? '' : whole(host),
        ],
      );
      const reply = await written.catch(async (error: unknown) => {
        // A full Redis still counts, and would do so in each attempt. Without a reply, nobody knows
        // whether the entry is stored, and its bytes count.
        if (isNew && isRefusal(error)) await charge(undefined, [added]);
        throw error;
      });
      const [status, now, ...more] = textsOf(reply);
      const nowMs = Number(now);
      if (status === 'other') {
        if (isNew) await charge(undefined, [added]);
        const [stored, storedBody] = more;
        return { status, entry: entryOf(stored, storedBody), nowMs };
      }
      if (status !== 'written' || Number.isNaN(nowMs))
        throw new TypeError('Unexpected reply from the Redis script of an entry.');
      const [version, ...old] = more;
      if (!isNew) await charge(added, chargesIn(old));
      return { status, version: Number(version), nowMs };
    },
    remove: removed,
    read: async (key) => {
      const [, , stored, body] = textsOf(await run(read, keys.entry(key), []));
      return entryOf(stored, body);
    },
  };
}

function entryOf(stored: string | undefined, body: string | undefined): Entry | undefined {
  if (stored === undefined || stored === '') return undefined;
  const [, version, writtenAtMs, head] = /^(\d+) (\d+) \d+ \d+ \S+ ([^]*)$/.exec(stored) ?? [];
  if (head === undefined) throw new TypeError('A Redis key holds no entry of the store.');
  return { head, body, version: Number(version), writtenAtMs: Number(writtenAtMs) };
}

/** Charges of bodies that were replaced or removed, three texts each. A dash: nobody paid. */
function chargesIn([principal, bytes, untilMs, ...more]: Texts): readonly Charged[] {
  if (principal === undefined) return [];
  const charged = { principal, bytes: Number(bytes), untilMs: Number(untilMs) };
  return [...(principal === '-' ? [] : [charged]), ...chargesIn(more)];
}
