/** What became of one key. */
interface Kept<T> {
  readonly entry: T;
  standing: boolean;
}

/**
 * A fake provider that honours idempotency keys, as those of money do: what is asked twice under one key happens once, and
 * what was undone stays undone, even if the request for it comes late.
 */
export class Provider<T> {
  /** Every call, in order, by its key: what a provider that knows no keys would have done. */
  readonly calls: string[] = [];
  readonly #kept = new Map<string, Kept<T>>();
  readonly #undone = new Set<string>();

  /** Does something once for each key, and gives what it did the first time. */
  do(key: string, entry: T): T {
    this.calls.push(key);
    const known = this.#kept.get(key);
    if (known !== undefined) return known.entry;
    this.#kept.set(key, { entry, standing: !this.#undone.has(key) });
    return entry;
  }

  /** Undoes what was done under a key, if it was. */
  undo(key: string): void {
    this.#undone.add(key);
    const known = this.#kept.get(key);
    if (known !== undefined) known.standing = false;
  }

  /** What was done and not undone, in the order it was done. */
  get standing(): readonly T[] {
    return [...this.#kept.values()].flatMap(({ entry, standing }) => (standing ? [entry] : []));
  }

  /** Forgets everything. */
  reset(): void {
    this.calls.length = 0;
    this.#kept.clear();
    this.#undone.clear();
  }
}
