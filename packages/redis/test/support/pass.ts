import type { Redis } from 'ioredis';

// The clock of Redis cannot be set, so the script moves stored times into the past.
const script = `
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  if redis.call('TYPE', key).ok == 'hash' then
    for _, field in ipairs({'lease', 'until'}) do
      if redis.call('HEXISTS', key, field) == 1 then redis.call('HINCRBY', key, field, '-' .. ARGV[2]) end
    end
  end
  local left = redis.call('PTTL', key)
  if left < 0 then return redis.error_reply('A key that does not expire: ' .. key) end
  redis.call('PEXPIRE', key, string.format('%.0f', left - ARGV[2]))
end
`;

/** Lets time pass for all that is kept under a prefix, leases included. */
export async function pass(redis: Redis, prefix: string, ms: number): Promise<void> {
  await redis.eval(script, 0, prefix, String(ms));
}
