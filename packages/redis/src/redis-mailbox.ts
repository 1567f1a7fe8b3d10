import type { Mailbox, PutResult } from '@mcp-saga/server/stores';
import type { Connection } from './connect.ts';
import { clock, whole } from './redis-values.ts';

// A box is a hash:
//   =<slot>  number and content of an answer, as `<number> <sealed>`
//   until    expiry of the box
//   number   number of the newest answer
//   closed   set once the box is closed

/** Extends the life of the box. A box without `until` is new. */
const extend = `
local function extend(kept, to)
  local last = math.max(tonumber(kept or '0'), to)
  redis.call('HSET', KEYS[1], 'until', text(last))
  redis.call('PEXPIREAT', KEYS[1], text(last))
end
`;

/** KEYS: box. ARGV: field of the slot, sealed answer, expiry, greatest number of answers. */
const put: string = `${clock}${extend}
local kept = redis.call('HMGET', KEYS[1], ARGV[1], 'closed', 'until', 'number')
-- A repeated call after a dropped connection: two answers never seal to the same bytes.
if kept[1] then return string.gsub(kept[1], '^%d+ ', '') == ARGV[2] and 'stored' or 'taken' end
if kept[2] then return 'closed' end
local count = redis.call('HLEN', KEYS[1]) - (kept[3] and 1 or 0) - (kept[4] and 1 or 0)
if count >= tonumber(ARGV[4]) then return 'full' end
if tonumber(ARGV[3]) <= now then return redis.error_reply(ahead) end
-- Not the count: answers may have been removed.
local number = text(tonumber(kept[4] or '0') + 1)
redis.call('HSET', KEYS[1], 'number', number)
redis.call('HSET', KEYS[1], ARGV[1], number .. ' ' .. ARGV[2])
extend(kept[3], tonumber(ARGV[3]))
return 'stored'
`;

/** KEYS: box. */
const list = `return redis.call('HGETALL', KEYS[1])`;

/** KEYS: box. ARGV: fields of slots, each before its sealed answer. */
const remove = `
for at = 1, #ARGV, 2 do
  local kept = redis.call('HMGET', KEYS[1], ARGV[at])[1]
  if kept and string.gsub(kept, '^%d+ ', '') == ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end
return 1
`;

/** KEYS: box. ARGV: expiry. */
const close: string = `${clock}${extend}
local kept = redis.call('HMGET', KEYS[1], 'until')
redis.call('HSET', KEYS[1], 'closed', '1')
extend(kept[1], tonumber(ARGV[1]))
return 1
`;

const results: readonly string[] = [
  'stored',
  'taken',
  'closed',
  'full',
] satisfies readonly PutResult[];

/**
 * Creates a mailbox in Redis. Boxes expire on their own. If Redis loses a box earlier, its answers are
 * lost, and people can answer again.
 */
export function mailboxOn({ keys, run }: Connection): Mailbox {
  return {
    put: async (box, slot, sealed, { expiresAt, maxAnswers }) => {
      const values = [`=${slot}`, sealed, whole(expiresAt), whole(maxAnswers)];
      const result = await run(put, [keys.box(box)], values);
      if (results.includes(result as string)) return result as PutResult;
      throw new TypeError('Unexpected reply from the Redis mailbox script.');
    },
    list: async (box) => {
      const reply = await run(list, [keys.box(box)], []);
      const fields = new Map<string, string>();
      const flat = (Array.isArray(reply) ? reply : []).map(String);
      for (let at = 0; at + 1 < flat.length; at += 2)
        fields.set(flat[at] ?? '', flat[at + 1] ?? '');
      const isClosed = fields.has('closed');
      const answers = [...fields]
        .filter(([field]) => field.startsWith('='))
        .map(([field, value]) => {
          const end = value.indexOf(' ');
          return {
            number: Number(value.slice(0, end)),
            slot: field.slice(1),
            sealed: value.slice(end + 1),
          };
        })
        .toSorted((one, other) => one.number - other.number)
        .map(({ slot, sealed }) => ({ slot, sealed }));
      return { answers, isClosed };
    },
    remove: async (box, answers) => {
      const values = answers.flatMap(({ slot, sealed }) => [`=${slot}`, sealed]);
      if (values.length > 0) await run(remove, [keys.box(box)], values);
    },
    close: async (box, expiresAt) => void (await run(close, [keys.box(box)], [whole(expiresAt)])),
  };
}
