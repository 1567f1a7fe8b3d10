import type { SagaQueue, SagaStore } from '@mcp-saga/server';
import type { SagaServer } from '@mcp-saga/server/serve';

/** Store and queue of the server, with the clock of the example. */
export interface Backend {
  readonly store: SagaStore;
  readonly queue: SagaQueue;
  readonly clock: () => number;
  /** Starts to deliver messages of the queue. */
  readonly startWorker: (sagas: SagaServer) => Promise<unknown>;
  /** Advances the clock, and lets the queue deliver. */
  readonly advance: (ms: number) => Promise<void>;
}
