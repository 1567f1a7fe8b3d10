/** Returns a signal that never aborts. */
export function neverAborts(): AbortSignal {
  return new AbortController().signal;
}

/** Returns the outcome of `work`, or rejects with the signal's reason at an abort. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * Runs `work` with a separate signal that follows `signal`, since SDK v1 never removes listeners.
 */
export async function withOwnSignal<T>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const follow = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  if (signal.aborted) follow();
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener('abort', follow);
  }
}
