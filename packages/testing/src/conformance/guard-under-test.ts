import type { SagaGuard } from '@mcp-saga/server';

/** A guard, and the time by which it forgets. */
export interface GuardUnderTest {
  readonly guard: SagaGuard;
  /** The same store, as another process reaches it. */
  readonly elsewhere: SagaGuard;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Lets `ms` milliseconds pass for all that the guard has stored. */
  readonly pass: (ms: number) => Promise<void>;
}
