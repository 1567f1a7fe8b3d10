import type { NamesOf } from '@mcp-saga/core/shared';
import { assertClock } from './clock.ts';
import { assertKnown } from './known-options.ts';

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** Returns the time, in milliseconds since the epoch. @default Date.now */
  readonly clock?: () => number;
}

const optionNames: NamesOf<MemoryStoreOptions> = { clock: true };

/**
 * Returns the clock of a store in memory.
 * @throws TypeError with the name of the store, for an unknown option, or a `clock` that is not a
 * function
 */
export function clockOf(store: string, options: MemoryStoreOptions): () => number {
  assertKnown(store, options, optionNames);
  const { clock = Date.now } = options;
  assertClock(`${store}.clock`, clock);
  return clock;
}

/**
 * Values in memory until they expire. Removes expired values when a value is set, at most once a
 * second.
 */
export class ExpiringMap<T extends { readonly expiresAt: number }> {
  readonly #values = new Map<string, T>();
  readonly #clock: () => number;
  #swept = 0;

  /**
   * @throws TypeError with the name of the store, for an unknown option, or a `clock` that is not a
   * function
   */
  constructor(store: string, options: MemoryStoreOptions) {
    this.#clock = clockOf(store, options);
  }

  /** Number of values, with expired values that were not removed yet. */
  get size(): number {
    return this.#values.size;
  }

  /** Returns a value that has not expired. */
  get(id: string): T | undefined {
    const value = this.#values.get(id);
    return value !== undefined && this.#clock() < value.expiresAt ? value : undefined;
  }

  set(id: string, value: T): void {
    const now = this.#clock();
    if (now >= this.#swept + 1_000) {
      this.#swept = now;
      for (const [other, { expiresAt }] of this.#values)
        if (expiresAt <= now) this.#values.delete(other);
    }
    this.#values.set(id, value);
  }
}
