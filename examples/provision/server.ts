import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { provision } from './saga.ts';

const sagas = serveSagas({ name: 'provision', version: '1.0.0', sagas: [provision] });

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
