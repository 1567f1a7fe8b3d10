import { SagaTestError } from '../values/errors.ts';
import { isSameValue } from '../values/same-value.ts';
import { show } from '../values/show.ts';

/** A promise of a store, as a test for any test runner. */
export interface ConformanceCase {
  readonly title: string;
  /** Runs the test. Throws `violated`. */
  readonly run: () => Promise<void>;
}

/** @throws SagaTestError `violated` if two values differ */
export function same(actual: unknown, expected: unknown): void {
  if (isSameValue(actual, expected)) return;
  throw new SagaTestError('violated', `Expected ${show(expected)}, and got ${show(actual)}.`);
}
