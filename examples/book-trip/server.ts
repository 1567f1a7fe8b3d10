import { memoryStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { bookTrip } from './saga.ts';

// A guard in memory serves one process, and refuses older tokens after a restart. A fleet shares a
// guard.
const sagas = serveSagas({
  name: 'book-trip',
  version: '1.0.0',
  sagas: [bookTrip],
  store: memoryStore(),
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
