import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { refund } from './refund.ts';
import { complexTool } from './saga.ts';

const sagas = serveSagas({
  name: 'quickstart',
  version: '1.0.0',
  sagas: [refund, complexTool],
  // `pnpm start` reads these lines to show the steps of each process.
  hooks: {
    onStep: ({ kind, path, type }) => {
      if (kind === 'step') console.error(`step ${path} ${type}`);
    },
    onTurn: ({ turn, status }) => console.error(`turn ${turn} ${status}`),
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
