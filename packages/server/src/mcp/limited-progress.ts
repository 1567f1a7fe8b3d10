import type { Caller } from '../host/caller.ts';

type Tell = NonNullable<Caller['progress']>;
type Progress = Parameters<Tell>[0];

// A model that reports every token would otherwise send a message for each.
const interval = 100;

/** Progress of one request: at most ten a second, the newest always told, nothing after the answer. (W5) */
export interface LimitedProgress {
  tell(progress: Progress): void;
  /** Tells what was held back, and ends it: the answer comes next. */
  end(): void;
}

/**
 * @param clock - milliseconds since the epoch
 */
export function limitedProgress(tell: Tell, clock: () => number): LimitedProgress {
  let last = Number.NEGATIVE_INFINITY;
  let held: Progress | undefined;
  let ended = false;
  const send = (progress: Progress): void => {
    held = undefined;
    last = clock();
    tell(progress);
  };
  return {
    tell: (progress) => {
      if (ended) return;
      // What is held back is told with the next one that is due, or at the end: the newest stands for all before it.
      const since = clock() - last;
      // A clock that was set back tells nothing of how long it has been.
      if (since >= 0 && since < interval) held = progress;
      else send(progress);
    },
    end: () => {
      if (held !== undefined) send(held);
      ended = true;
    },
  };
}
