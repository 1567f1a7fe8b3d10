import type { Redis } from 'ioredis';

// The clock of Redis cannot be set, so the script moves stored times into the past.
const script = `
local ms = tonumber(ARGV[2])
local function earlier(time) return string.format('%.0f', time - ms) end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  local type = redis.call('TYPE', key).ok
  if type == 'hash' and redis.call('HEXISTS', key, 'until') == 1 then
    redis.call('HINCRBY', key, 'until', '-' .. ARGV[2])
  end
  local left = redis.call('PTTL', key)
  if left < 0 then return redis.error_reply('A key that does not expire: ' .. key) end
  local stored = type == 'string' and redis.call('GET', key) or ''
  local version, written, bytes, kept, principal, head = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
  if version then
    redis.call('SET', key, table.concat({version, earlier(written), bytes, earlier(kept), principal, head}, ' '))
  end
  redis.call('PEXPIRE', key, string.format('%.0f', left - ms))
end
`;

/** Lets time pass for all that is kept under a prefix, leases included. */
export async function pass(redis: Redis, prefix: string, ms: number): Promise<void> {
  await redis.eval(script, 0, prefix, String(ms));
}
