/** Clock, for tests. */
export interface Clock {
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. May reject after an abort of `signal`. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

// Every runtime shortens a longer delay to 1 ms.
const longestTimer = 2_147_483_647;

/** Clock of the runtime. */
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
