import type { Effect, Spec } from '../parts/effect.ts';

export interface SleepSpec extends Spec {
  readonly kind: 'sleep';
  readonly ms: number;
  readonly until: number | undefined;
}

export const sleep: Effect<SleepSpec> = {
  entries: ['passed', 'withdrawn', 'cannot'],
  request: ({ ms, until }) => [ms, until],
  // Rounded up: tokens hold whole milliseconds, and nothing is due early.
  due: ({ ms, until }, since) => until ?? Math.ceil(since + ms),
};
