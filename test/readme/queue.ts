import { createSagaHost, memoryGuard, type SagaHost, type SuspendedSagaFacts } from '@mcp-saga/server';
import { buy } from './undo.ts';

/** A delayed queue: one message for each key, delivered at its time. */
export interface DelayedQueue {
  replace(key: string, message: string, at: number): Promise<void>;
  remove(key: string): Promise<void>;
}

/** A host that undoes what an absent client left behind. */
export function hostWith(queue: DelayedQueue, clock: () => number, keys: string): SagaHost {
  // #region queue
  const host = createSagaHost({
    sagas: [buy],
    keys,
    audience: 'shop',
    guard: memoryGuard(clock), // one process; a fleet shares a store
    clock,
    hooks: {
      onSuspended: ({ sagaId, cancelToken, cancelAfter }: SuspendedSagaFacts) =>
        queue.replace(sagaId, cancelToken, cancelAfter),
      onSettled: ({ sagaId }) => queue.remove(sagaId),
    },
  });
  // What the queue delivers: host.cancel(cancelToken)
  // #endregion queue
  return host;
}
