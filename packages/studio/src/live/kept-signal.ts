import { effect, signal, type Signal } from '@preact/signals';

/** Creates a signal whose value, or the part that `shorten` returns, outlives a reload. The browser drops it with the tab. */
export function keptSignal<T>(name: string, initial: T, shorten = (value: T): T => value): Signal<T> {
  const key = `mcp-saga studio ${name}`;
  const text = sessionStorage.getItem(key);
  const kept = signal(text === null ? initial : (JSON.parse(text) as T));
  effect(() => sessionStorage.setItem(key, JSON.stringify(shorten(kept.value))));
  return kept;
}
