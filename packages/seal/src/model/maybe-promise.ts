/**
 * A value, or the promise of one. Where `node:crypto` can be had, everything here is synchronous; elsewhere
 * WebCrypto makes it a promise. `await` is right for both.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value at once if it is there, and with a promise's value when it arrives. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
