import { memoryQueue, memoryStore, standardWebhook } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { order } from './saga.ts';

// A clock that client.ts advances by `POST /advance/MS`. A real server has neither.
let ahead = 0;
const clock = (): number => Date.now() + ahead;
// Both serve one process, and forget everything after a restart. A fleet shares a store and a
// queue.
const store = memoryStore({ clock });
const queue = memoryQueue();

// Webhooks need the address of the server, so the sagas are served once the port is known.
let sagas: SagaServer | undefined;
const server = serve({
  fetch: async (request) => {
    const [, ms] = /\/advance\/(\d+)$/.exec(request.url) ?? [];
    if (ms === undefined)
      return await (sagas?.fetch(request) ?? new Response(null, { status: 503 }));
    ahead += Number(ms);
    await queue.deliverDue();
    return new Response(null, { status: 204 });
  },
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  store,
  queue,
  url: server.url ?? '',
  webhooks: { provider: standardWebhook(process.env['WEBHOOK_SECRET'] ?? '') },
  testing: { clock },
});
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
