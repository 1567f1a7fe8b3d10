/** Store and queue in Redis, shared by a fleet of saga hosts. */
export {
  bullmqProcessor,
  bullmqQueue,
  bullmqWorkerOptions,
  type BullmqJobLike,
  type BullmqJobOptions,
  type BullmqQueueLike,
} from './bullmq-queue.ts';
export { redisStore } from './redis-store.ts';
export type {
  IoRedisLike,
  NodeRedisLike,
  RedisClient,
  RedisOptions,
  UpstashRedisLike,
} from './redis-client.ts';
