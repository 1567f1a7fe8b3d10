import type { Awaitable } from '@mcp-saga/core';

/**
 * Store of one service: entries in groups, and a list for each group. A group lives in one place (a
 * hash tag, an object). A store sees IDs, digests, ciphertext, and fixed words only.
 *
 * Every rule about sagas is above this interface: which request may use a token again, which answer
 * counts, how many bytes a caller may keep. Used tokens, tasks, and links are entries, and the
 * answers to a link are the list of its group. A store only promises these:
 *
 * - Each method is atomic, and its result holds for all processes. Only `read` may be late, and
 *   only `discard` may remove some values before others.
 * - Times go by one clock, that of the store. A store in memory may use the clock of its host.
 * - A version is used once for a key, even if its entry was removed or has expired since, and later
 *   versions are greater: a process that stood still cannot replace what came after it.
 * - A repeated call, whose reply was lost, gives the result of the first: to write what is stored
 *   already is to have written it. Callers never write one value twice, since it is sealed or has a
 *   random ID. A store in memory loses no reply, and accepts no repeated call.
 */
export interface SagaStore {
  /**
   * Replaces version `expected` of an entry (0: no entry), and charges its bytes to a principal. If
   * another version is stored, it writes nothing, and returns the stored entry. A new entry is not
   * written while its principal is at the limit.
   * @throws Error if the clocks of store and host differ by over `skewMs`, or if the entry would
   * expire at once
   */
  write(
    key: EntryKey,
    value: EntryValue,
    expected: number,
    options: WriteOptions,
  ): Awaitable<Written>;
  /**
   * Removes version `expected` of an entry. Returns `false` if another version is stored, or none.
   */
  remove(key: EntryKey, expected: number): Awaitable<boolean>;
  /**
   * Returns an entry; undefined if it is missing or expired. If it is late, a host may refuse a
   * request that repeats an old turn.
   */
  read(key: EntryKey): Awaitable<Entry | undefined>;
  /**
   * Adds a value to the list of a group, behind the others, and charges its bytes to a principal,
   * whatever the principal has stored: `maxValues` is the limit. The names of a list are not those
   * of entries.
   * @throws Error if the value would expire at once
   */
  append(key: EntryKey, value: string, options: AppendOptions): Awaitable<Appended>;
  /** Returns the list of a group, in the order of the additions. */
  list(group: string): Awaitable<StoredList>;
  /**
   * Removes values from the list of a group, as `list` returned them, so that others find room. The
   * others keep their order. Values that are gone are ignored.
   */
  discard(group: string, values: readonly ListedValue[]): Awaitable<void>;
  /**
   * Closes the list of a group, also an empty one: nothing is added any more, and what it holds
   * stays.
   * @param expiresAtMs - time at which the store may forget the list (ms since the epoch)
   */
  close(group: string, expiresAtMs: number): Awaitable<void>;
  /**
   * Returns the time since which the store knows its entries, in milliseconds since the epoch.
   * Implement it if a restart forgets all entries. Default: the store forgets nothing.
   * @param nowMs - time of the host (ms since the epoch)
   */
  remembersSince?(nowMs: number): number;
}

/** Place of an entry, or of a value in the list of a group. */
export interface EntryKey {
  readonly group: string;
  readonly name: string;
}

/** What an entry holds. */
export interface EntryValue {
  /** Facts that decisions need: some hundred bytes, kept until the entry expires. */
  readonly head: string;
  /** What is only handed out again, up to megabytes. It may expire or be dropped earlier. */
  readonly body?: string | undefined;
}

/** Stored entry. */
export interface Entry extends EntryValue {
  readonly version: number;
  /** Time of the write by the clock of the store (ms since the epoch): a lease counts from here. */
  readonly writtenAtMs: number;
}

/** Life and cost of an entry. */
export interface WriteOptions {
  /** Time at which the store may forget the entry (ms since the epoch). */
  readonly expiresAtMs: number;
  /** Time at which the store may forget the body (ms since the epoch). Default: `expiresAtMs`. */
  readonly bodyExpiresAtMs?: number | undefined;
  /**
   * Earliest time at which an earlier entry of the key can have expired (ms since the epoch). Only
   * for a store that goes by the clocks of its hosts: if one of them was ahead, the store may have
   * removed that entry too early, and throws. A store that compares `nowMs` with a clock of its own
   * ignores it. Default: `expiresAtMs`.
   */
  readonly mayHaveExpiredAtMs?: number | undefined;
  /**
   * Principal who pays for the body, the same for all entries of a group that somebody pays for. It
   * replaces the charge of the earlier version.
   */
  readonly charge?: Charge | undefined;
  /**
   * Name of another entry of the group, whose body nobody needs any more. A write that is not the
   * first of its key forgets that body, so that its bytes no longer count. The head stays.
   */
  readonly outdated?: string | undefined;
  /** Time of the host (ms since the epoch). Default: the clocks are not compared. */
  readonly nowMs?: number | undefined;
}

/**
 * Bytes that count for a principal until the body of the entry goes: the length of the body. The
 * head counts nothing.
 */
export interface Charge {
  /** Digest of the principal. */
  readonly to: string;
  /**
   * Bytes at which no new entry is written for the principal. An entry that exists can always be
   * replaced, so that what has begun can end. Default: no limit.
   */
  readonly limit?: number | undefined;
}

/** Result of a write. */
export type Written =
  | { readonly status: 'written'; readonly version: number; readonly nowMs: number }
  /** Another version is stored: `entry`, or none. */
  | { readonly status: 'other'; readonly entry: Entry | undefined; readonly nowMs: number }
  /** The principal is at its limit. */
  | { readonly status: 'full'; readonly nowMs: number };

/** Bounds and cost of a value in a list. */
export interface AppendOptions {
  /** Greatest number of values in the list. */
  readonly maxValues: number;
  /**
   * Time at which the store may forget the list (ms since the epoch). The latest time of all its
   * values counts.
   */
  readonly expiresAtMs: number;
  /**
   * Digest of the principal who pays for the value, the same for all values of a list. Its bytes
   * count until it is discarded, or at least until `expiresAtMs`.
   */
  readonly chargeTo?: string | undefined;
}

/**
 * Result of an addition. If several apply, the first of this list is returned:
 *
 * - `added`: the value is in the list
 * - `taken`: the list has another value of this name, which stays
 * - `closed`: the list was closed
 * - `full`: the list has `maxValues` values
 */
export type Appended = 'added' | 'taken' | 'closed' | 'full';

/** Value in a list. */
export interface ListedValue {
  readonly name: string;
  readonly value: string;
}

/** List of a group. */
export interface StoredList {
  readonly values: readonly ListedValue[];
  readonly isClosed: boolean;
}
