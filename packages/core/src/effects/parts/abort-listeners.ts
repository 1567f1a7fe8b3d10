/** Calls many listeners by one: a signal compares each new listener with all others, and Node warns about more than ten. */
class AbortListeners {
  readonly all: Set<() => void> = new Set();

  handleEvent(): void {
    for (const listener of this.all) listener();
  }
}

const listenersOf = /* @__PURE__ */ new WeakMap<AbortSignal, AbortListeners>();

/** Calls a listener when a signal aborts. */
export function onAbort(signal: AbortSignal, listener: () => void): void {
  let listeners = listenersOf.get(signal);
  if (listeners === undefined) {
    listeners = new AbortListeners();
    listenersOf.set(signal, listeners);
    signal.addEventListener('abort', listeners, { once: true });
  }
  listeners.all.add(listener);
}

/** Removes a listener from a signal. */
export function offAbort(signal: AbortSignal, listener: () => void): void {
  const listeners = listenersOf.get(signal);
  listeners?.all.delete(listener);
  if (listeners?.all.size !== 0) return;
  listenersOf.delete(signal);
  signal.removeEventListener('abort', listeners);
}
