import { storeTasks, type TaskStore } from '@mcp-saga/server/stores';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { redisEntryStore } from './redis-entry-store.ts';

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
  return storeTasks(redisEntryStore('redisTaskStore', client, options));
}
