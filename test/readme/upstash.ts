// #region upstash
import { redisStore } from '@mcp-saga/redis';
import { createSagaHost } from '@mcp-saga/server';
import { Redis } from '@upstash/redis';
import { buy } from './undo.ts';

// Reads UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.
const store = redisStore(Redis.fromEnv());

export const host = createSagaHost({
  sagas: [buy],
  keys: process.env['SAGA_KEYS'],
  name: 'shop',
  store,
  anonymous: { tasks: 'accept' },
});
// #endregion upstash
