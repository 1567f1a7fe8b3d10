import type { ProviderObserver, TestProvider } from '../script/test-options.ts';
import { SagaTestError } from '../values/errors.ts';

/** What became of one key. */
interface Kept<T> {
  readonly entry: T;
  standing: boolean;
}

/**
 * A fake provider that honours idempotency keys, as those of money do: what is asked twice under one key happens once, and
 * what was undone stays undone, even if the request for it comes late. Name it in the `providers` of a test, and the kit checks
 * how it is called.
 *
 * @example
 * ```ts
 * const bank = new Provider<number>();
 * const paid = testSaga(order, { providers: [bank] })
 *   .on.step('charge', ({ idempotencyKey }) => bank.do(idempotencyKey, 900))
 *   .on.step('~charge', ({ stepKey = '' }) => bank.undo(stepKey));
 * await failEverywhere(paid);
 * ```
 */
export class Provider<T> implements TestProvider {
  /** Every call, in order, by its key: what a provider that knows no keys would have done. */
  readonly calls: string[] = [];
  readonly #kept = new Map<string, Kept<T>>();
  readonly #undone = new Set<string>();
  #observer: ProviderObserver | undefined;

  /** Does something once for each key, and gives what it did the first time. */
  do(key: string, entry: T): T {
    this.#observer?.(key, 'do');
    this.calls.push(key);
    const known = this.#kept.get(key);
    if (known !== undefined) return known.entry;
    this.#kept.set(key, { entry, standing: !this.#undone.has(key) });
    return entry;
  }

  /**
   * Undoes what was done under a key, if it was: the `stepKey` of an undo.
   *
   * @throws SagaTestError `violated` where it is the key of the undo itself, which undoes nothing: of a run of `testSaga`, whose
   *   keys tell. It ends the run.
   */
  undo(key: string): void {
    const known = this.#kept.get(key);
    if (known === undefined && key.startsWith('undo:')) {
      throw new SagaTestError(
        'violated',
        `Nothing was done under '${key}': that is the key of the undo itself, by which a repeated undo is known again. What it ` +
          'undoes was done by the key of its step: ({ stepKey }) => provider.undo(stepKey).',
      );
    }
    this.#observer?.(key, 'undo');
    this.#undone.add(key);
    if (known !== undefined) known.standing = false;
  }

  /** The keys that were undone and never done: nothing was there to undo, or an undo was given another key. */
  get strays(): readonly string[] {
    return [...this.#undone].filter((key) => !this.#kept.has(key));
  }

  /** What was done and not undone, in the order it was done. */
  get standing(): readonly T[] {
    return [...this.#kept.values()].flatMap(({ entry, standing }) => (standing ? [entry] : []));
  }

  /** Keys of what was done and not undone, in the order it was done. */
  get standingKeys(): readonly string[] {
    return Array.from(this.#kept).flatMap(([key, { standing }]) => (standing ? [key] : []));
  }

  /** Reports each call to `observer`: how the kit watches it during a run. */
  observe(observer: ProviderObserver | undefined): void {
    this.#observer = observer;
  }

  /** Forgets everything. */
  reset(): void {
    this.calls.length = 0;
    this.#kept.clear();
    this.#undone.clear();
  }
}
