import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { addProduct, listOrders } from './sagas.ts';

const sagas = serveSagas({
  name: 'paging',
  version: '1.0.0',
  sagas: [listOrders, addProduct],
  limits: {
    // Returns a token for each wait at once. By default, the host holds a wait for up to 20
    // seconds.
    maxHold: 0,
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
