import { generateKey, memoryStore } from '@mcp-saga/server';
import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { contentSagas } from './contents.ts';
import { sagas2025 } from './elicitation-2025.ts';
import { promptSagas } from './prompt.ts';
import { registerResources, resourceSagas } from './resources.ts';
import { roundTripSagas } from './round-trips.ts';
import { skills } from './skills.ts';
import { registerTriggers, statelessSagas } from './stateless.ts';
import { taskSagas } from './tasks.ts';

/** Serves one request. */
export type Fetch = (request: Request) => Promise<Response>;

/**
 * Serves the sagas without sessions, each request for itself, for the specifications of 2026 and
 * 2025.
 */
export async function serveStateless(): Promise<Fetch> {
  const { bySdk } = await serveBothWays();
  return bySdk;
}

/** Two servers that share all memory. Servers that are extended leave everything to the SDK. */
export async function serveBothWays(): Promise<{ readonly direct: Fetch; readonly bySdk: Fetch }> {
  const bus = new InMemoryServerEventBus();
  const catalog = await skills();
  const options: ServeSagasOptions = {
    name: 'conformance',
    version: '1.0.0',
    keys: generateKey(),
    sagas: [
      ...roundTripSagas,
      ...contentSagas,
      ...promptSagas,
      ...resourceSagas,
      ...statelessSagas,
      ...taskSagas,
      ...sagas2025,
    ],
    store: memoryStore(),
    anonymous: { tasks: 'accept' },
    // Failed sagas and changed tokens are expected. Other errors are printed.
    hooks: { onTurn: () => undefined, onReject: () => undefined },
    http: { allowedHosts: ['localhost', '127.0.0.1', '[::1]'], handler: { bus } },
  };
  const direct = serveSagas(options);
  const extended = serveSagas({
    ...options,
    extend: (mcp) => {
      registerTriggers(mcp, bus);
      registerResources(mcp);
      catalog.attach(mcp);
    },
  });
  return {
    direct: (request) => direct.fetch(request),
    bySdk: (request) => extended.fetch(request),
  };
}
