import type { Awaitable } from '@mcp-saga/core';

/** A task as a store has it. */
export interface StoredTask {
  /** From 1, and one more with each write. */
  readonly version: number;
  /** What was written. */
  readonly sealed: string;
}

/**
 * Stores tasks that continue after the answer to their call. Sees IDs and ciphertext only, and opens no task to a client. A table
 * of four columns, or a hash in Redis, is enough.
 */
export interface TaskStore {
  /** The newest that was written under an id, not yet expired; undefined where there is nothing. */
  read(id: string): Awaitable<StoredTask | undefined>;
  /**
   * Replaces version `expected` of a task, 0 where there is none yet, by version `expected + 1`: false, and nothing is
   * written, where another writer came first. Atomic.
   *
   * @param expiresAt - when it may be forgotten, in milliseconds since the epoch
   */
  write(id: string, sealed: string, expected: number, expiresAt: number): Awaitable<boolean>;
}
