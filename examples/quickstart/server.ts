import { serve } from 'srvx';
import { serveSagas } from '@mcp-saga/server/serve';
import { complexTool } from './saga.ts';

const sagas = serveSagas({
  name: 'quickstart',
  version: '1.0.0',
  sagas: [complexTool],
  hooks: {
    onStep: ({ type, kind, path }) => {
      if (kind === 'step') console.error(`${type} ${path}`);
    },
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
