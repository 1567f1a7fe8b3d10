import { memoryQueue, memoryStore } from '@mcp-saga/server';
import type { Backend } from './backend.ts';

/** Opens a store and a queue in this process. A restart forgets both. */
export function openMemory(): Backend {
  // A clock that client.ts advances.
  let ahead = 0;
  const clock = (): number => Date.now() + ahead;
  const queue = memoryQueue();
  return {
    store: memoryStore({ clock }),
    queue,
    clock,
    // The host delivers, as it advances.
    startWorker: async () => undefined,
    advance: async (ms) => {
      ahead += ms;
      await queue.deliverDue();
    },
  };
}
