import type { ProviderObserver, TestProvider } from '../script/test-options.ts';
import { SagaTestError } from '../values/errors.ts';

type Kept<T> = { readonly entry: T; standing: boolean };

/**
 * A fake provider that honors idempotency keys, as payment providers do. A repeated call under one
 * key runs once. An undone effect stays undone, even if its request arrives late. Pass it in
 * `providers` of a test, and the kit checks its calls.
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const charges = new Provider<number>();
 * const order = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
 *   yield* step('charge', ({ idempotencyKey }) => charges.do(idempotencyKey, 900), {
 *     compensate: ({ stepKey }) => charges.undo(stepKey),
 *   });
 *   return 'done';
 * });
 * await failEverywhere(testSaga(order, { providers: [charges] }));
 * ```
 */
export class Provider<T> implements TestProvider {
  /** Keys of all calls, in order, with repetitions. */
  readonly calls: string[] = [];
  readonly #kept = new Map<string, Kept<T>>();
  readonly #undone = new Set<string>();
  #observer: ProviderObserver | undefined;

  /** Runs once per key. Returns the entry of the first call. */
  do(key: string, entry: T): T {
    this.#observer?.(key, 'do');
    this.calls.push(key);
    const known = this.#kept.get(key);
    if (known !== undefined) return known.entry;
    this.#kept.set(key, { entry, standing: !this.#undone.has(key) });
    return entry;
  }

  /**
   * Undoes the effect of a key, if any: the `stepKey` of an undo.
   * @throws SagaTestError `violated` for the key of the undo itself. Ends the run.
   */
  undo(key: string): void {
    const known = this.#kept.get(key);
    if (known === undefined && key.startsWith('undo:')) {
      throw new SagaTestError(
        'violated',
        `Provider.undo('${key}'): this is the key of the undo. Pass the key of the step instead: ` +
          '({ stepKey }) => provider.undo(stepKey).',
      );
    }
    this.#observer?.(key, 'undo');
    this.#undone.add(key);
    if (known !== undefined) known.standing = false;
  }

  /** Keys that were undone and never done. */
  get strays(): readonly string[] {
    return [...this.#undone].filter((key) => !this.#kept.has(key));
  }

  /** Entries that were done and not undone, in order. */
  get standing(): readonly T[] {
    return [...this.#kept.values()].flatMap(({ entry, standing }) => (standing ? [entry] : []));
  }

  /** Keys that were done and not undone, in order. */
  get standingKeys(): readonly string[] {
    return Array.from(this.#kept).flatMap(([key, { standing }]) => (standing ? [key] : []));
  }

  /** Reports each call to `observer`, for the kit. */
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
