import { memoryStore, type SagaStore } from '@mcp-saga/server';
import { createLoadServer, deploy } from './serve-saga.ts';
import { serveMeasured } from './serve-measured.ts';
import { openStore } from './stores.ts';

// The tool under the guard of a store, and with `?bare` in memory: each write is then a round
// trip that does no work.
const { store, ping } = await openStore();

/** Store in memory that also makes a round trip for each write. */
function pinging(trip: () => Promise<unknown>): SagaStore {
  const memory = memoryStore({ olderTokens: 'accept' });
  return {
    ...memory,
    write: async (...entry) => {
      await trip();
      return await memory.write(...entry);
    },
  };
}

const guarded = createLoadServer([deploy], { store });
const bare = createLoadServer([deploy], ping && { store: pinging(ping) });
await serveMeasured((request) => (request.url.endsWith('?bare') ? bare : guarded).fetch(request));
