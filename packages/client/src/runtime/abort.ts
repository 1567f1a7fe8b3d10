/** A signal that never aborts, for callers that gave none. */
export function neverAborts(): AbortSignal {
  return new AbortController().signal;
}

/** The outcome of `work`, or a rejection with the signal's reason as soon as it aborts. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Runs `work` with its own signal, which follows `signal`: SDK v1 never removes its listener from a shared signal. */
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
