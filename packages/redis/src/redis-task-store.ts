import type { StoredTask, TaskStore } from '@mcp-saga/server/stores';
import { connect } from './connect.ts';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { isOne, whole } from './redis-values.ts';

/** KEYS: task. */
const read = `return redis.call('HMGET', KEYS[1], 'version', 'sealed')`;

/** KEYS: task. ARGV: sealed record, expected version, expiry. */
const write = `
local kept = redis.call('HMGET', KEYS[1], 'version', 'sealed')
local version = tonumber(kept[1] or '0')
local expected = tonumber(ARGV[2])
-- A repeated call after a dropped connection: two records never seal to the same bytes.
if version == expected + 1 and kept[2] == ARGV[1] then return 1 end
if version ~= expected then return 0 end
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', expected + 1), 'sealed', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
`;

/**
 * Creates a task store in Redis, for hosts of any number of processes. Supports Redis 5 or newer,
 * Valkey, and Redis Cluster. Tasks expire on their own. If Redis loses a task earlier, clients get
 * the error for an unknown task.
 * @param client - connected client; the caller closes the client
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const redis: RedisClient; // a connected client of `redis` or `ioredis`
 *
 * const store = redisTaskStore(redis);
 * ```
 */
export function redisTaskStore(client: RedisClient, options: RedisOptions = {}): TaskStore {
  const { keys, run } = connect('redisTaskStore', client, options);
  return {
    read: async (id): Promise<StoredTask | undefined> => {
      const reply = await run(read, [keys.task(id)], []);
      const [version, sealed] = Array.isArray(reply) ? (reply as unknown[]) : [];
      if (version === null || version === undefined) return undefined;
      return { version: Number(version), sealed: String(sealed) };
    },
    write: async (id, sealed, expected, expiresAt) =>
      isOne(await run(write, [keys.task(id)], [sealed, String(expected), whole(expiresAt)])),
  };
}
