import type { Awaitable } from '@mcp-saga/core';

/** Stored version of a task. */
export interface StoredTask {
  /** Number of the write: greater than those of earlier writes, and than 0. */
  readonly version: number;
  /** Sealed task, as written. */
  readonly sealed: string;
}

/**
 * Store for tasks after the response. Sees IDs and ciphertext only. `storeTasks` makes one of any
 * store of entries.
 */
export interface TaskStore {
  /** Returns the newest version of a task; undefined if it is missing or expired. */
  read(id: string): Awaitable<StoredTask | undefined>;
  /**
   * Replaces version `expected` of a task (0: no version) by a greater one. Returns `false` without
   * a write if another version is stored. Atomic.
   * @param expiresAt - time at which the store may forget the task, in milliseconds since the epoch
   */
  write(id: string, sealed: string, expected: number, expiresAt: number): Awaitable<boolean>;
}
