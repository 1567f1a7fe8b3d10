// #region fleet
import { redisStore } from '@mcp-saga/redis';
import { createSagaHost } from '@mcp-saga/server';
import { createClient } from 'redis';
import { buy } from './undo.ts';

// Of ioredis: new Redis(url)
export const client = createClient({
  url: process.env['REDIS_URL'] ?? '',
  disableOfflineQueue: true,
});
client.on('error', (error: Error) => console.error(error.message));
await client.connect();

export const host = createSagaHost({
  sagas: [buy],
  keys: process.env['SAGA_KEYS'],
  name: 'shop',
  store: redisStore(client),
});
// #endregion fleet
