import type { StoredTask, TaskStore } from '@mcp-saga/server';
import { keysOf } from './keys.ts';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { isOne, whole } from './redis-guard.ts';
import { scriptRunner } from './run-script.ts';

/** KEYS: task. */
const read = `return redis.call('HMGET', KEYS[1], 'version', 'sealed')`;

/** KEYS: task. ARGV: what is written, the version it replaces, when to forget it. */
const write = `
local kept = redis.call('HMGET', KEYS[1], 'version', 'sealed')
local version = tonumber(kept[1] or '0')
local expected = tonumber(ARGV[2])
-- The same call once more, its answer lost with the connection: nothing is sealed to the same bytes twice.
if version == expected + 1 and kept[2] == ARGV[1] then return 1 end
if version ~= expected then return 0 end
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', expected + 1), 'sealed', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
`;

/**
 * A store of tasks in Redis, for hosts of any number of processes. What it keeps goes by itself when it has expired;
 * what Redis loses before, a client is told does not exist. Redis 5 or newer, Valkey, Redis Cluster.
 *
 * @param client - connected; it stays the caller's, to close as well
 * @throws TypeError or RangeError where the client or the options cannot be meant
 */
export function redisTaskStore(client: RedisClient, options: RedisOptions = {}): TaskStore {
  const keys = keysOf(options);
  const run = scriptRunner(client, options);
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
