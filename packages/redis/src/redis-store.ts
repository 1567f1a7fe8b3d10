import type { SagaStore } from '@mcp-saga/server/stores';
import { connect } from './connect.ts';
import { byteCounter } from './redis-charges.ts';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { entriesOn } from './redis-entries.ts';
import { listsOn } from './redis-lists.ts';

/**
 * Creates the store of a host in one Redis, for hosts of any number of processes. Supports Redis 5
 * or newer, Valkey, Redis Cluster, and Upstash. Leases use the Redis clock. Entries expire
 * automatically. If Redis loses an entry earlier, a used token is accepted again: set
 * `maxmemory-policy noeviction` and `appendonly yes`.
 * @param client - connected client; the caller closes the client
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const redis: RedisClient; // a connected client of `redis` or `ioredis`, or one of `@upstash/redis`
 *
 * const store = redisStore(redis, { prefix: 'shop:' });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisOptions = {}): SagaStore {
  const connection = connect(client, options);
  const charge = byteCounter(connection);
  return { ...entriesOn(connection, charge), ...listsOn(connection, charge) };
}
