import type { Connection } from './connect.ts';
import { clock, isOne, whole } from './redis-values.ts';

/**
 * KEYS: stored bytes of a principal, as `<slot>:<bytes>` for each 15 minutes of expiry. ARGV:
 * limit, bytes to add, their expiry, and several times bytes to subtract, their expiry. Returns 0
 * and adds nothing if the limit was reached before.
 */
const count: string = `${clock}
local slot = 900000
local slots = {}
local kept = 0
for at, bytes in string.gmatch(redis.call('GET', KEYS[1]) or '', '(%d+):(%d+)') do
  at = tonumber(at)
  if at * slot > now then
    slots[at] = tonumber(bytes)
    kept = kept + bytes
  end
end
if kept >= tonumber(ARGV[1]) then return 0 end
local function add(bytes, expiry)
  local at = math.ceil(expiry / slot)
  slots[at] = math.max(0, (slots[at] or 0) + bytes)
end
-- First what is added: two changes of one entry may arrive in the other order.
add(ARGV[2], ARGV[3])
for at = 4, #ARGV, 2 do add(-ARGV[at], ARGV[at + 1]) end
local parts = {}
local last = 0
for at, bytes in pairs(slots) do
  if bytes > 0 then
    table.insert(parts, text(at) .. ':' .. text(bytes))
    last = math.max(last, at)
  end
end
-- A full Redis allows a write after a delete, so the end of a turn is always counted.
redis.call('DEL', KEYS[1])
if #parts > 0 then
  redis.call('SET', KEYS[1], table.concat(parts, ' '))
  redis.call('PEXPIREAT', KEYS[1], text(last * slot))
end
return 1
`;

/** Bytes of a principal until an expiry (ms since the epoch). */
export interface Charged {
  readonly principal: string;
  readonly bytes: number;
  readonly untilMs: number;
}

/**
 * Counts new bytes in place of others, in a key of their principal, who is the same. The key may be
 * on another node of a cluster than the entries. Returns `false` and adds nothing if the principal is at the limit.
 */
export type CountBytes = (
  added: Charged | undefined,
  replaced: readonly (Charged | undefined)[],
  limit?: number,
) => Promise<boolean>;

const nothing = { bytes: 0, untilMs: 0 };

/** Returns the function that counts bytes in Redis. */
export function byteCounter({ keys, run }: Connection): CountBytes {
  return async (added, given, limit = Number.MAX_SAFE_INTEGER) => {
    const replaced = given.filter((one) => one !== undefined);
    const { principal } = added ?? replaced[0] ?? {};
    if (principal === undefined) return true;
    const values = [added ?? nothing, ...replaced].flatMap(({ bytes, untilMs }) => [
      whole(bytes),
      whole(untilMs),
    ]);
    return isOne(await run(count, [keys.charges(principal)], [whole(limit), ...values]));
  };
}
