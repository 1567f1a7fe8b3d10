import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { openMemory } from './memory.ts';
import { openPostgres } from './postgres.ts';
import { refund } from './saga.ts';

const { DATABASE_URL } = process.env;
const { store, queue, clock, startWorker, advance } = DATABASE_URL
  ? await openPostgres(DATABASE_URL)
  : openMemory();

// Answer pages need the address of the server, so the sagas are served once the port is known.
let sagas: SagaServer | undefined;
const server = serve({
  fetch: async (request) => {
    // client.ts advances the clock. A real server has no such route.
    const [, ms] = /\/advance\/(\d+)$/.exec(request.url) ?? [];
    if (ms === undefined)
      return await (sagas?.fetch(request) ?? new Response(null, { status: 503 }));
    await advance(Number(ms));
    return new Response(null, { status: 204 });
  },
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
sagas = serveSagas({
  name: 'refunds',
  version: '1.0.0',
  sagas: [refund],
  store,
  queue,
  url: server.url ?? '',
  testing: { clock },
});
await startWorker(sagas);
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
