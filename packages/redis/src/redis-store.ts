import type { SagaStore } from '@mcp-saga/server/stores';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { redisGuard } from './redis-guard.ts';
import { redisMailbox } from './redis-mailbox.ts';
import { redisTaskStore } from './redis-task-store.ts';

/**
 * Creates the guard, the task store, and the mailbox of a host in one Redis, for hosts of any
 * number of processes.
 * @param client - connected client; the caller closes the client
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const redis: RedisClient; // a connected client of `redis` or `ioredis`, or one of `@upstash/redis`
 *
 * const { guard, tasks, mailbox } = redisStore(redis, { prefix: 'shop:' });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisOptions = {}): SagaStore {
  return {
    guard: redisGuard(client, options),
    tasks: redisTaskStore(client, options),
    mailbox: redisMailbox(client, options),
  };
}
