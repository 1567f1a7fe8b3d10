/** Value with `node:crypto`, or a promise with WebCrypto. `await` works for both. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with a value at once, or with the value of a promise. */
export function chain<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
