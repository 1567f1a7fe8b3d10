import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { addProduct, listOrders } from './sagas.ts';

const sagas = serveSagas({
  name: 'paging',
  version: '1.0.0',
  sagas: [listOrders, addProduct],
  limits: {
    // A wait becomes a token at once, so that there is something to see. By default it is held for up to 20 seconds.
    maxHoldMs: 0,
  },
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
