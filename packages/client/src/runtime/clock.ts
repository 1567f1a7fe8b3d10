/** Where the time comes from; a test passes its own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects, if ever, because `signal` aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

// A longer delay overflows to 1 ms in every runtime: a saga that sleeps for a month would spin.
const longestTimer = 2_147_483_647;

/** The clock of the runtime. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    const end = Date.now() + ms;
    for (let left = ms; left > 0 && !signal.aborted; left = end - Date.now()) {
      await timer(Math.min(left, longestTimer), signal);
    }
  },
};

function timer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timeout);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timeout = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
