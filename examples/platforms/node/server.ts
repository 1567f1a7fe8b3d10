import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { openStore } from '@mcp-saga/example-order/store';
import { serveSagas } from '@mcp-saga/server/serve';
import { FastResponse, serve } from 'srvx';

// Saves a fifth of the processor time of a request.
globalThis.Response = FastResponse;

const sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  ...(await openStore(process.env)),
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: process.env['PORT'] ?? 3000,
  gracefulShutdown: false, // see below
});
await server.ready();
console.log(`MCP is served at ${server.url}mcp`);
// Answers open requests before the process ends. The process holds no other state.
process.once('SIGTERM', () => void server.close().then(() => process.exit()));
