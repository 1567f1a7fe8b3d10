/** Longest time of a timer (ms). A timer for more fires at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Resolves after `ms`, or at once when `signal` aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let left = ms;
  for (; left > longestTimerMs && !signal.aborted; left -= longestTimerMs) {
    // oxlint-disable-next-line no-await-in-loop -- one part after the other
    await waited(longestTimerMs, signal);
  }
  await waited(left, signal);
}

async function waited(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** @throws TypeError where a clock is none, such as one that has its time as a property */
export function assertClock(where: string, clock: unknown): void {
  if (typeof clock === 'function') return;
  throw new TypeError(
    `${where}: expected a function that gives milliseconds since the epoch, such as Date.now or () => clock.now.`,
  );
}
