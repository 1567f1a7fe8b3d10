import type { SagaGuard } from '@mcp-saga/server';

/** A guard, and the time it goes by. */
export interface GuardUnderTest {
  readonly guard: SagaGuard;
  /** The same store, as another process reaches it. */
  readonly elsewhere: SagaGuard;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Lets time pass for all that the guard has kept. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Makes a guard that knows nothing yet. */
export type MakeGuard = () => Promise<GuardUnderTest>;
