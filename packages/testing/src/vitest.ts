/** Importing this adds the matchers for runs to vitest's `expect`: in a test, or in `setupFiles`. */
import { expect } from 'vitest';
import { sagaMatchers } from './matchers.ts';

/** What `expect(run)` can say of a run. */
export interface SagaMatchers<R = unknown> {
  /**
   * The whole trace is this. A line matches its beginning: `ran charge` matches `ran charge: {"id":"c1"}`; `…` on a line of
   * its own matches any number of lines.
   */
  toMatchSagaTrace(expected: string | readonly string[]): R;
  /** The client was asked these questions, and perhaps others. */
  toHaveAsked(...ids: readonly string[]): R;
  /** The step ran to its end; or its code was called so often, failures counted. */
  toHaveRun(id: string, times?: number): R;
  /** The saga failed, and these steps were undone, in this order, and no others. */
  toHaveCompensated(ids: readonly string[]): R;
  /** Nothing is left that could not be undone. */
  toLeaveNoResidue(): R;
}

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type, typescript/no-explicit-any -- as vitest declares it
  interface Matchers<T = any> extends SagaMatchers<T> {}
}

expect.extend(sagaMatchers as never);
