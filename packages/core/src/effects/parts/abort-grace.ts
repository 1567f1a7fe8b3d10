import { OutcomeUnknown } from '../../values/errors.ts';
import type { Runtime } from '../../model/runtime.ts';

/**
 * Time for running code to settle after the abort of its request (ms). The request then ends
 * without the code.
 */
export const abortGraceMs = 5_000;

/**
 * Waits for `what` at most `abortGraceMs` after the abort of the request. Throws OutcomeUnknown if
 * it did not settle.
 */
export async function withinGrace(
  what: string,
  working: PromiseLike<unknown>,
  { request: { signal }, time }: Pick<Runtime, 'request' | 'time'>,
): Promise<unknown> {
  let settled: AbortController | undefined;
  let begin!: () => void;
  const timedOut = new Promise<never>((_, reject) => {
    begin = () => {
      settled = new AbortController();
      const message = `${what} did not settle within ${abortGraceMs} ms of the abort of its request.`;
      void time.sleep(abortGraceMs, settled.signal).then(() => reject(new OutcomeUnknown(message)));
    };
  });
  if (signal.aborted) begin();
  else onAbort(signal, begin);
  try {
    return await Promise.race([working, timedOut]);
  } finally {
    offAbort(signal, begin);
    settled?.abort();
  }
}

/**
 * Calls many listeners by one: a signal compares each new listener with all others, and Node warns
 * about more than ten.
 */
class AbortListeners {
  readonly all: Set<() => void> = new Set();

  handleEvent(): void {
    for (const listener of this.all) listener();
  }
}

const listenersOf = /* @__PURE__ */ new WeakMap<AbortSignal, AbortListeners>();

function onAbort(signal: AbortSignal, listener: () => void): void {
  let listeners = listenersOf.get(signal);
  if (listeners === undefined) {
    listeners = new AbortListeners();
    listenersOf.set(signal, listeners);
    signal.addEventListener('abort', listeners, { once: true });
  }
  listeners.all.add(listener);
}

function offAbort(signal: AbortSignal, listener: () => void): void {
  const listeners = listenersOf.get(signal);
  listeners?.all.delete(listener);
  if (listeners?.all.size !== 0) return;
  listenersOf.delete(signal);
  signal.removeEventListener('abort', listeners);
}
