import { readFileSync } from 'node:fs';
import { redisStore } from '@mcp-saga/redis';
import { serveSagas } from '@mcp-saga/server/serve';
import { createClient } from 'redis';
import { FastResponse, serve } from 'srvx';
import { sendInvoice } from './send-invoice.js';

// Saves a fifth of the processor time of a request.
globalThis.Response = FastResponse;

const { REDIS_URL = '', SAGA_KEYS_FILE = '', PUBLIC_HOST = 'localhost' } = process.env;
// While Redis is unreachable, calls fail at once instead of waiting in the client.
const redis = createClient({ url: REDIS_URL, disableOfflineQueue: true });
redis.on('error', (error: Error) => console.error(error.message));
await redis.connect();

const sagas = serveSagas({
  name: 'invoices',
  version: '1.0.0',
  sagas: [sendInvoice],
  keys: readFileSync(SAGA_KEYS_FILE, 'utf8').trim(),
  store: redisStore(redis),
  http: { allowedHosts: [PUBLIC_HOST] },
});

// On PORT, or 3000.
const server = serve({
  fetch: (request) =>
    new URL(request.url).pathname === '/health' ? new Response('ok') : sagas.fetch(request),
  hostname: '0.0.0.0', // other containers have to reach it
  gracefulShutdown: false, // it would cut steps after 5 s
});
// Answers open requests before the process ends. Docker sends SIGTERM.
process.once('SIGTERM', () => void server.close().then(() => process.exit()));
