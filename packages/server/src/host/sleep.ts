// What a timer can wait at the most: it fires at once for more.
const longest = 2 ** 31 - 1;

/** Resolves after `ms`, or at once when `signal` aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let left = ms;
  for (; left > longest && !signal.aborted; left -= longest) {
    // oxlint-disable-next-line no-await-in-loop -- one part after the other
    await waited(longest, signal);
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
