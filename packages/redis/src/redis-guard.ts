import { storeGuard, type SagaGuard } from '@mcp-saga/server/stores';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { redisEntryStore } from './redis-entry-store.ts';

/**
 * Creates a guard in Redis, for hosts of any number of processes. Supports Redis 5 or newer,
 * Valkey, and Redis Cluster. Leases use the Redis clock. Entries expire automatically. If Redis
 * loses an entry earlier, a used token is accepted again: set `maxmemory-policy noeviction` and
 * `appendonly yes`.
 * @param client - connected client; the caller closes it
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const redis: RedisClient; // a connected client of `redis` or `ioredis`
 *
 * const guard = redisGuard(redis, { prefix: 'shop:' });
 * ```
 */
export function redisGuard(client: RedisClient, options: RedisOptions = {}): SagaGuard {
  return storeGuard(redisEntryStore('redisGuard', client, options));
}
