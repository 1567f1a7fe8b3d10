import { optionError } from '@mcp-saga/core/shared';

/** Maximum delay of a timer, in milliseconds. Longer timers fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Resolves after `ms` milliseconds, or at once when `signal` aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let left = ms;
  for (; left > longestTimerMs && !signal.aborted; left -= longestTimerMs) {
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

/** Lets the process end while a timer waits. Timers of browsers and Workers are numbers. */
export function letProcessEnd(timer: ReturnType<typeof setTimeout>): void {
  (Object(timer) as { unref?: () => void }).unref?.();
}

/** Checks that a clock is a function. Throws TypeError. */
export function assertClock(where: string, clock: unknown): void {
  if (typeof clock === 'function') return;
  throw optionError(
    `${where}: expected a function that returns milliseconds since the epoch, such as Date.now or () => clock.now.`,
  );
}

let never: AbortSignal | undefined;

/**
 * The signal of requests that no client aborts. Keeps no listeners: each of many turns would be
 * compared with all others.
 */
export function neverAborted(): AbortSignal {
  return (never ??= Object.assign(new AbortController().signal, {
    addEventListener: () => undefined,
  }));
}
