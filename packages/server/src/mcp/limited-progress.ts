import type { Caller } from '../model/caller.ts';

type Report = NonNullable<Caller['progress']>;

type Progress = Parameters<Report>[0];

// A body may report progress for every token of a model.
const burst = 10;

const refillMs = 100;

/**
 * Progress of one request: ten notifications at once, and ten a second. The newest value is always
 * sent.
 */
export interface LimitedProgress {
  report(progress: Progress): void;
  /** Sends the pending value, before the client is asked. */
  flush(): void;
  /** Sends the pending value, and drops all later values. */
  end(): void;
}

/** Limits the rate of progress notifications with a token bucket. */
export function limitedProgress(report: Report, clock: () => number): LimitedProgress {
  let spare = burst;
  let refilledAt = clock();
  let held: Progress | undefined;
  let ended = false;
  const refill = (): void => {
    const now = clock();
    // The clock may have been set back.
    spare = Math.min(burst, spare + Math.max(0, now - refilledAt) / refillMs);
    refilledAt = now;
  };
  const flush = (): void => {
    if (held !== undefined && !ended) report(held);
    held = undefined;
  };
  return {
    flush,
    report: (progress) => {
      if (ended) return;
      refill();
      // The newest value replaces the pending one, and is sent with the next value or at the end.
      held = progress;
      if (spare < 1) return;
      spare -= 1;
      held = undefined;
      report(progress);
    },
    end: () => {
      flush();
      ended = true;
    },
  };
}
