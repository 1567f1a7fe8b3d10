import { memoryGuard, type SagaGuard } from '@mcp-saga/server';
import { createLoadServer } from './serve-saga.ts';
import { serveMeasured } from './serve-measured.ts';
import { openStore } from './stores.ts';

// The tool under the guard of a store, and with `?bare` without it: each call of the guard is then
// a round trip that does no work.
const { store, ping } = await openStore();

/** Guard in memory that also makes a round trip for each call. */
function pinging(trip: () => Promise<unknown>): SagaGuard {
  const memory = memoryGuard({ olderTokens: 'accept' });
  return {
    ...memory,
    begin: async (claim) => {
      await trip();
      return await memory.begin(claim);
    },
    finish: async (...args) => {
      await trip();
      return await memory.finish(...args);
    },
  };
}

const guarded = createLoadServer([], { guard: { store: store.guard } });
const bare = createLoadServer([], ping && { guard: { store: pinging(ping) } });
await serveMeasured((request) => (request.url.endsWith('?bare') ? bare : guarded).fetch(request));
