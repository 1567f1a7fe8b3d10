/** What a fleet of saga hosts shares, kept in Redis: the guard that forbids forks, and the store of tasks. */
export { redisGuard } from './redis-guard.ts';
export { redisTaskStore } from './redis-task-store.ts';
export type { IoRedisLike, NodeRedisLike, RedisClient, RedisOptions } from './redis-client.ts';
