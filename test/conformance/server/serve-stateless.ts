import { memoryGuard, memoryTaskStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { listen, type Listening } from './listening.ts';
import { promptSagas } from './prompt.ts';
import { roundTripSagas } from './round-trips.ts';
import { registerTriggers, statelessSagas } from './stateless.ts';
import { taskSagas } from './tasks.ts';

/** Serves the sagas for the specification of 2026: without sessions, each request for itself. */
export async function serveStateless(): Promise<Listening> {
  const bus = new InMemoryServerEventBus();
  const server = serveSagas({
    name: 'conformance',
    version: '1.0.0',
    keys: 'ephemeral',
    sagas: [...roundTripSagas, ...promptSagas, ...statelessSagas, ...taskSagas],
    guard: memoryGuard(),
    tasks: { store: memoryTaskStore(), bearer: 'accept', pollInterval: 100 },
    // Some fail, and are sent what was tampered with, as they should; what goes wrong otherwise is printed.
    hooks: { onTurn: () => undefined, onReject: () => undefined },
    allowedHosts: ['localhost', '127.0.0.1', '[::1]'],
    extend: (mcp) => registerTriggers(mcp, bus),
    handler: { bus },
  });
  return await listen((request) => server.fetch(request));
}
