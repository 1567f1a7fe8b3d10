import type { Caller } from '../model/caller.ts';

type Tell = NonNullable<Caller['progress']>;

type Progress = Parameters<Tell>[0];

// A model that reports every token would otherwise send a message for each.
const burst = 10;

const refillMs = 100;

/** Progress of one request: ten at once, then ten a second, always the newest, and nothing after the answer. */
export interface LimitedProgress {
  tell(progress: Progress): void;
  /** Sends the value that was held back, because the client is asked next. */
  flush(): void;
  /** Sends the value that was held back, and ends it: the answer comes next. */
  end(): void;
}

/** Limits the rate of progress notifications with a token bucket. */
export function limitedProgress(tell: Tell, clock: () => number): LimitedProgress {
  let spare = burst;
  let refilledAt = clock();
  let held: Progress | undefined;
  let ended = false;
  const refill = (): void => {
    const now = clock();
    // A clock that was set back says nothing about the time that passed.
    spare = Math.min(burst, spare + Math.max(0, now - refilledAt) / refillMs);
    refilledAt = now;
  };
  const flush = (): void => {
    if (held !== undefined && !ended) tell(held);
    held = undefined;
  };
  return {
    flush,
    tell: (progress) => {
      if (ended) return;
      refill();
      // The newest value replaces the one held back. It goes out with the next one that is due, or at the end.
      held = progress;
      if (spare < 1) return;
      spare -= 1;
      held = undefined;
      tell(progress);
    },
    end: () => {
      flush();
      ended = true;
    },
  };
}
