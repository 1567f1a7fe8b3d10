/** Required methods of the storage of a Durable Object whose class is in `new_sqlite_classes`. */
export interface DurableObjectStorageLike {
  readonly kv: {
    get(name: string): unknown;
    put(name: string, value: unknown): void;
    delete(name: string): unknown;
    list(options?: { readonly prefix?: string }): Iterable<[string, unknown]>;
  };
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
  deleteAll(): Promise<void>;
}

/** State that Cloudflare passes to the constructor of a Durable Object. */
export interface DurableObjectStateLike {
  readonly storage: DurableObjectStorageLike;
}

/** Stored value, and the time at which it may be forgotten. */
interface Entry {
  readonly value: unknown;
  readonly expiresAt: number;
}

/**
 * Delay between expiry and removal of an entry, in milliseconds. One alarm then removes several
 * entries.
 */
const sweepDelayMs = 15 * 60_000;

/**
 * Entries of a Durable Object at one time. All methods are synchronous, and Cloudflare stores all
 * writes between two awaits together. A method of an object is therefore atomic.
 */
export class Entries {
  readonly #storage: DurableObjectStorageLike;
  /** Time of the object, in milliseconds since the epoch. */
  readonly now: number = Date.now();
  /** Time by which the object needs an alarm, in milliseconds since the epoch. */
  alarmAt: number = Number.POSITIVE_INFINITY;

  constructor(storage: DurableObjectStorageLike) {
    this.#storage = storage;
  }

  /** Returns a value. Undefined if the entry is missing or expired. */
  get(name: string): unknown {
    const entry = this.#storage.kv.get(name) as Entry | undefined;
    return entry !== undefined && entry.expiresAt > this.now ? entry.value : undefined;
  }

  /** Returns the expiry of an entry, which may have passed. 0 if the entry is missing. */
  expiryOf(name: string): number {
    return (this.#storage.kv.get(name) as Entry | undefined)?.expiresAt ?? 0;
  }

  /** Returns all values whose names begin with a prefix. */
  list(prefix: string): readonly unknown[] {
    return Array.from(this.#storage.kv.list({ prefix }), ([, entry]) => (entry as Entry).value);
  }

  /** Stores a value. Without `expiresAt`, the value is removed together with the object. */
  put(name: string, value: unknown, expiresAt: number = Number.POSITIVE_INFINITY): void {
    this.#storage.kv.put(name, { value, expiresAt } satisfies Entry);
    this.wakeAt(expiresAt + sweepDelayMs);
  }

  delete(name: string): void {
    this.#storage.kv.delete(name);
  }

  /** Lets the object have an alarm by `time`. */
  wakeAt(time: number): void {
    this.alarmAt = Math.min(this.alarmAt, time);
  }

  /** Removes expired entries, and requests an alarm for the others. */
  sweep(): void {
    const entries = Array.from(this.#storage.kv.list(), ([name, entry]) => ({
      name,
      expiresAt: (entry as Entry).expiresAt,
    }));
    for (const { name, expiresAt } of entries) {
      if (expiresAt <= this.now) this.delete(name);
      else this.wakeAt(expiresAt + sweepDelayMs);
    }
  }

  /** Removes all values whose names begin with a prefix. */
  clear(prefix: string): void {
    const names = Array.from(this.#storage.kv.list({ prefix }), ([name]) => name);
    for (const name of names) this.delete(name);
  }

  /** @throws Error if an entry would expire at once */
  assertLives(expiresAt: number): void {
    if (expiresAt > this.now) return;
    throw new Error(
      'The entry would expire at once: the clock of the Durable Object is ahead. Synchronize the clocks.',
    );
  }
}
