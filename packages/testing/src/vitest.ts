/** Importing this adds the matchers for runs to vitest's `expect`: in a test, or in `setupFiles`. */
import { expect } from 'vitest';
import { sagaMatchers, type IDs, type RunsExpected } from './report/matchers.ts';

/** What `expect(run)` can say of a run. */
export interface SagaMatchers {
  /** Matches the whole trace. `ran charge` matches `ran charge: {"id":"c1"}`; a line `…` matches any number of lines. */
  toMatchSagaTrace(expected: string | readonly string[]): void;
  /** The client was asked these questions, and perhaps others. An id means its repetitions too, where it is not there itself. */
  toHaveAsked(ids: IDs): void;
  /** These steps ran to their ends; or the code of each was called `times` times, failures included. */
  toHaveRun(ids: IDs, options?: RunsExpected): void;
  /** The saga failed, and these steps were undone, in this order, and no others. */
  toHaveCompensated(ids: IDs): void;
  /** Nothing is left that could not be undone. */
  toLeaveNoResidue(): void;
}

// Vitest's own interface has other type parameters in every major version. What it has of chai's assertions it shows in
// each of them.
declare global {
  // oxlint-disable-next-line typescript/no-namespace -- as chai declares it
  namespace Chai {
    // oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- adds members
    interface Assertion extends SagaMatchers {}
  }
}

expect.extend(sagaMatchers as never);
