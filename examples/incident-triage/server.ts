import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { triageIncident } from './saga.ts';

// A server with its clock ahead plays a later time for client.ts.
const ahead = Number(process.env['CLOCK_AHEAD'] ?? 0);
const sagas = serveSagas({
  name: 'incidents',
  version: '1.0.0',
  sagas: [triageIncident],
  testing: { clock: () => Date.now() + ahead },
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
