import { SagaTestError } from '../values/errors.ts';
import { isSameValue } from '../values/same-value.ts';
import { show } from '../values/show.ts';

/** Milliseconds. */
export const minute = 60_000;
/** Milliseconds. */
export const hour: number = 60 * minute;
/** Milliseconds. */
export const day: number = 24 * hour;

/** A guarantee of a store, as a test for any test runner. */
export interface ConformanceCase {
  readonly title: string;
  /** Runs the test. Throws `violated`. */
  readonly run: () => Promise<void>;
}

/** Receives tests as cases. */
export interface CaseCollector<T> {
  readonly cases: readonly ConformanceCase[];
  readonly test: (title: string, check: (made: T) => Promise<void>) => void;
}

/** Collects cases. Each makes its own store. */
export function collectCases<T>(make: () => Promise<T>): CaseCollector<T> {
  const cases: ConformanceCase[] = [];
  return {
    cases,
    test: (title, check) => void cases.push({ title, run: async () => await check(await make()) }),
  };
}

/** @throws SagaTestError `violated` if two values differ */
export function same(actual: unknown, expected: unknown): void {
  if (isSameValue(actual, expected)) return;
  throw new SagaTestError('violated', `Expected ${show(expected)}, but got ${show(actual)}.`);
}
