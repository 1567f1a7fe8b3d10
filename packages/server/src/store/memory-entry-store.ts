import { ExpiryQueue, type Expiring } from './expiry-queue.ts';
import type {
  Entry,
  EntryKey,
  EntryStore,
  EntryValue,
  WriteOptions,
  Written,
} from '../model/entry-store.ts';

/** Options of a store in memory. */
interface MemoryEntryStoreOptions {
  /** Default: the clock of the host, or `Date.now` for callers that pass no time. */
  readonly clock?: (() => number) | undefined;
  /** `true` if the store tells that a restart has forgotten all entries. */
  readonly tellsRestarts?: boolean;
}

/** Creates a store of entries in the memory of one process. A restart forgets all entries. */
export function memoryEntryStore(
  options: MemoryEntryStoreOptions = {},
): EntryStore & { readonly size: number } {
  return new MemoryEntryStore(options);
}

/** Stored entry, with its place in the queue of what expires next. */
interface Stored extends Expiring {
  value: EntryValue;
  version: number;
  writtenAtMs: number;
  expiresAtMs: number;
  bodyExpiresAtMs: number;
  /** Principal who pays for the body. */
  chargedTo: string | undefined;
}

/** Maximum number of expired entries that a call removes, to bound the time of the call. */
const maxExpiredPerCall = 1_000;

class MemoryEntryStore implements EntryStore {
  readonly #clock: (() => number) | undefined;
  readonly #entries = new Map<string, Stored>();
  readonly #expiring = new ExpiryQueue<Stored>();
  /** Bytes of the bodies that each principal pays for. */
  readonly #charged = new Map<string, number>();
  #versions = 0;
  /** Latest time that a host passed. */
  #hostTime: number | undefined;
  /** Latest time at which an entry was removed. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;
  readonly remembersSince?: (nowMs: number) => number;

  constructor({ clock, tellsRestarts = false }: MemoryEntryStoreOptions) {
    this.#clock = clock;
    if (!tellsRestarts) return;
    let startedAt: number | undefined;
    this.remembersSince = (nowMs) => (startedAt ??= nowMs);
  }

  get size(): number {
    return this.#entries.size;
  }

  read(key: EntryKey): Entry | undefined {
    return this.#entryAt(textOf(key), this.#now(undefined));
  }

  remove(key: EntryKey, expected: number): boolean {
    const nowMs = this.#now(undefined);
    this.#expire(nowMs);
    const text = textOf(key);
    const stored = this.#entries.get(text);
    if (stored === undefined || this.#entryAt(text, nowMs)?.version !== expected) return false;
    this.#remove(stored);
    return true;
  }

  write(
    key: EntryKey,
    value: EntryValue,
    expected: number,
    {
      expiresAtMs,
      bodyExpiresAtMs = expiresAtMs,
      mayHaveExpiredAtMs = expiresAtMs,
      charge,
      nowMs: hostTime,
    }: WriteOptions,
  ): Written {
    const nowMs = this.#now(hostTime);
    this.#expire(nowMs);
    const text = textOf(key);
    const entry = this.#entryAt(text, nowMs);
    if ((entry?.version ?? 0) !== expected) return { status: 'other', entry, nowMs };
    if (expiresAtMs <= nowMs)
      throw new Error('The entry would expire at once: a clock is ahead. Synchronize the clocks.');
    const { to, limit = Number.POSITIVE_INFINITY } = charge ?? {};
    if (expected === 0) {
      this.#assertNotForgotten(mayHaveExpiredAtMs, nowMs);
      if (to !== undefined && (this.#charged.get(to) ?? 0) >= limit)
        return { status: 'full', nowMs };
    }
    const stored = this.#entries.get(text);
    if (stored !== undefined) this.#remove(stored);
    this.#versions += 1;
    const written: Stored = {
      key: text,
      value,
      version: this.#versions,
      writtenAtMs: nowMs,
      expiresAtMs,
      bodyExpiresAtMs,
      chargedTo: to,
      dueAt: Math.min(expiresAtMs, bodyExpiresAtMs),
      index: 0,
    };
    this.#entries.set(text, written);
    this.#expiring.add(written);
    this.#charge(written, 1);
    return { status: 'written', version: written.version, nowMs };
  }

  #now(hostTime: number | undefined): number {
    this.#hostTime = hostTime ?? this.#hostTime;
    return this.#clock?.() ?? this.#hostTime ?? Date.now();
  }

  /** Entry at a key, unless it has expired and waits to be removed. */
  #entryAt(key: string, nowMs: number): Entry | undefined {
    const stored = this.#entries.get(key);
    if (stored === undefined || stored.expiresAtMs <= nowMs) return undefined;
    const { value, version, writtenAtMs, bodyExpiresAtMs } = stored;
    const body = bodyExpiresAtMs > nowMs ? value.body : undefined;
    return { head: value.head, body, version, writtenAtMs };
  }

  #expire(nowMs: number): void {
    for (let count = 0; count < maxExpiredPerCall; count += 1) {
      const stored = this.#expiring.takeDue(nowMs);
      if (stored === undefined) return;
      if (stored.expiresAtMs <= nowMs) {
        this.#forgottenUntil = Math.max(this.#forgottenUntil, nowMs);
        this.#forget(stored);
      } else {
        this.#charge(stored, -1);
        stored.value = { head: stored.value.head };
        stored.dueAt = stored.expiresAtMs;
        this.#expiring.add(stored);
      }
    }
  }

  #remove(stored: Stored): void {
    this.#expiring.remove(stored);
    this.#forget(stored);
  }

  #forget(stored: Stored): void {
    this.#charge(stored, -1);
    this.#entries.delete(stored.key);
  }

  /** Adds the bytes of a body to those of its principal, or subtracts them. */
  #charge({ chargedTo, value: { body = '' } }: Stored, sign: 1 | -1): void {
    if (chargedTo === undefined || body === '') return;
    const bytes = (this.#charged.get(chargedTo) ?? 0) + sign * body.length;
    if (bytes > 0) this.#charged.set(chargedTo, bytes);
    else this.#charged.delete(chargedTo);
  }

  /**
   * Throws for an entry that may have been removed at a later time: what it held would be accepted
   * again.
   */
  #assertNotForgotten(expiresAtMs: number, nowMs: number): void {
    if (nowMs >= this.#forgottenUntil || expiresAtMs > this.#forgottenUntil) return;
    throw new Error(
      'The store may have forgotten this entry, because an earlier call had a later time: a clock was ahead. Synchronize the clocks of the hosts.',
    );
  }
}

function textOf({ group, name }: EntryKey): string {
  return `${group}\n${name}`;
}
