/** Adds the matchers for runs to vitest's `expect` on import: in a test, or in `setupFiles`. */
import { expect } from 'vitest';
import { sagaMatchers, type IDs, type RunsExpected } from './report/matchers.ts';

/** Matchers of `expect(run)`. */
export interface SagaMatchers {
  /**
   * Matches the whole trace. `ran charge` matches `ran charge: {"id":"c1"}`; a line `…` matches any
   * number of lines.
   */
  toMatchSagaTrace(expected: string | readonly string[]): void;
  /**
   * The client was asked these questions, and perhaps others. An unknown ID matches its
   * repetitions.
   */
  toHaveAsked(ids: IDs): void;
  /**
   * The steps succeeded; with `times`, the code of each step was called `times` times, failures
   * included.
   */
  toHaveRun(ids: IDs, options?: RunsExpected): void;
  /** The saga failed, and undid exactly these steps, in this order. */
  toHaveCompensated(ids: IDs): void;
  /** Nothing is left that could not be undone. */
  toLeaveNothingUncompensated(): void;
}

// Vitest's interface has other type parameters in each major version, and includes chai's
// assertions in all versions.
declare global {
  // oxlint-disable-next-line typescript/no-namespace -- as chai declares it
  namespace Chai {
    // oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- adds members
    interface Assertion extends SagaMatchers {}
  }
}

expect.extend(sagaMatchers as never);
