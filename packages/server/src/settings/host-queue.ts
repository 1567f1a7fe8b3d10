import { SagaHostError } from '../wire/errors.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { QueueMessage, SagaQueue } from '../model/queue-types.ts';
import { outline } from './default-log.ts';
import { reportFailure } from './observer-hooks.ts';

/**
 * Queue of a host. Its failures go to `onError`, as the effects of a turn have already happened.
 */
export interface QueueAccess {
  /**
   * Stores a message. Resolves to `false` if the queue failed. @param at - milliseconds since the
   * epoch
   */
  send(message: QueueMessage, at: number): Promise<boolean>;
  /** Removes the message of a saga. */
  remove(sagaId: string): Promise<void>;
  /** Delivers the message of a saga now, if the queue can. */
  wake(sagaId: string): Promise<void>;
  /**
   * During a delivery: `true` if its message is to be sent again for the turn after a used one.
   * Default: always.
   */
  readonly elects?: (used: Pick<SealedSaga, 'sagaId' | 'claims'>) => Promise<boolean>;
}

/** Wraps a queue: bounds each call by `timeoutMs`, and reports failures as `queue_down`. */
export function guardedQueue(
  queue: SagaQueue,
  timeoutMs: number,
  onError: (error: unknown) => void,
): QueueAccess {
  const report = (cause: unknown): void =>
    onError(cause instanceof SagaHostError ? cause : queueDown(outline(cause), cause));
  const guarded = (name: keyof SagaQueue, call: () => unknown): Promise<boolean> =>
    reportFailure(`queue.${name}`, call, timeoutMs, report);
  return {
    send: (message, at) => guarded('send', () => queue.send(message, at)),
    remove: async (sagaId) => void (await guarded('remove', () => queue.remove?.(sagaId))),
    wake: async (sagaId) => void (await guarded('wake', () => queue.wake?.(sagaId))),
  };
}

/** Makes the error of a queue that did not take a message. */
export function queueDown(problem: string, cause?: unknown): SagaHostError {
  return new SagaHostError('queue_down', `The queue failed: ${problem}`, { cause, public: false });
}
