import type { Awaitable } from '@mcp-saga/core';
import type { Charge, Written } from './entry-store.ts';

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
   * Replaces version `expected` of a task (0: no version) by a greater one. Atomic. Writes nothing
   * if another version is stored (`other`), or for a new task whose principal is at the limit
   * (`full`).
   * @param expiresAt - time at which the store may forget the task, in milliseconds since the epoch
   * @param charge - principal who pays for the task. Default: nobody.
   */
  write(
    id: string,
    sealed: string,
    expected: number,
    expiresAt: number,
    charge?: Charge,
  ): Awaitable<Written['status']>;
}
