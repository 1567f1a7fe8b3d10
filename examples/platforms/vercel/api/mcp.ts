import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { redisStore } from '@mcp-saga/redis';
import { serveSagas } from '@mcp-saga/server/serve';
import { Redis } from '@upstash/redis';

// Vercel sets KV_REST_API_URL and KV_REST_API_TOKEN when a database of Upstash is connected to the
// project.
const store = process.env['KV_REST_API_URL'] ? redisStore(Redis.fromEnv()) : undefined;

export default serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  http: { path: '/api/mcp' },
  ...(store && { store }),
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});
