import { memoryGuard, memoryTaskStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { contentSagas } from './contents.ts';
import { sagas2025 } from './elicitation-2025.ts';
import { promptSagas } from './prompt.ts';
import { registerResources, resourceSagas } from './resources.ts';
import { roundTripSagas } from './round-trips.ts';
import { skills } from './skills.ts';
import { registerTriggers, statelessSagas } from './stateless.ts';
import { taskSagas } from './tasks.ts';

/** Serves the sagas without sessions, each request for itself, for the specifications of 2026 and 2025. */
export async function serveStateless(): Promise<(request: Request) => Promise<Response>> {
  const bus = new InMemoryServerEventBus();
  const catalog = await skills();
  const server = serveSagas({
    name: 'conformance',
    version: '1.0.0',
    keys: 'ephemeral',
    sagas: [
      ...roundTripSagas,
      ...contentSagas,
      ...promptSagas,
      ...resourceSagas,
      ...statelessSagas,
      ...taskSagas,
      ...sagas2025,
    ],
    guard: { store: memoryGuard() },
    tasks: { store: memoryTaskStore(), bearer: 'accept', pollIntervalMs: 100 },
    // Some fail, and are sent what was tampered with, as they should; what goes wrong otherwise is printed.
    hooks: { onTurn: () => undefined, onReject: () => undefined },
    http: { allowedHosts: ['localhost', '127.0.0.1', '[::1]'], handler: { bus } },
    extend: (mcp) => {
      registerTriggers(mcp, bus);
      registerResources(mcp);
      catalog.attach(mcp);
    },
  });
  return (request) => server.fetch(request);
}
