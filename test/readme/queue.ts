import {
  createSagaHost,
  memoryStore,
  type SagaHost,
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import { buy } from './undo.ts';

/** A delayed queue: one message for each saga, that of its highest turn, delivered at its time. */
export interface DelayedQueue {
  put(message: SuspendedSagaFacts): Promise<void>;
  remove(sagaId: string): Promise<void>;
}

/** A host that undoes what an absent client left behind. */
export function hostWith(queue: DelayedQueue, clock: () => number, keys: string): SagaHost {
  // #region queue
  const host = createSagaHost({
    sagas: [buy],
    keys,
    name: 'shop',
    store: memoryStore({ clock }), // one process; a fleet shares a store
    testing: { clock }, // () => number, in milliseconds; by default Date.now
    hooks: {
      // One message for each sagaId: the one with the highest turn.
      onSuspended: (message) => queue.put(message),
      onSettled: ({ sagaId }) => queue.remove(sagaId),
    },
  });
  // What the queue delivers at message.cancelAfter: host.cancel(message.cancelToken)
  // #endregion queue
  return host;
}
