import type { SagaStore } from '@mcp-saga/server/stores';

/** A store under test, and its clock. */
export interface StoreUnderTest {
  readonly store: SagaStore;
  /** Same store, as another process sees it. */
  readonly elsewhere: SagaStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Advances the clock of the store. */
  readonly pass: (ms: number) => Promise<void>;
}
