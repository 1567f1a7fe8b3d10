import type { Awaitable } from '@mcp-saga/core';

/** Stored answer of a mailbox. */
export interface StoredAnswer {
  /** Slot of the answer: a digest of who answered, or of the event. */
  readonly slot: string;
  /** Sealed answer, as stored. */
  readonly sealed: string;
}

/**
 * Result of {@link Mailbox.put}. If several apply, the first of this list is returned:
 *
 * - `stored`: the answer is stored
 * - `taken`: the slot has an answer, which stays
 * - `closed`: the box accepts no more answers
 * - `full`: the box has `maxAnswers` answers
 */
export type PutResult = 'stored' | 'taken' | 'closed' | 'full';

/** Bounds of an answer that is put into a box. */
export interface PutBounds {
  /**
   * Time at which the mailbox may forget the box, in milliseconds since the epoch. The latest time
   * of all answers counts.
   */
  readonly expiresAt: number;
  /** Greatest number of answers in the box. */
  readonly maxAnswers: number;
}

/**
 * Store for answers from outside: of other people, and of other systems. Each box belongs to one
 * step of one saga, or holds the question of one link. The first answer in a slot stays. Sees IDs, digests, and ciphertext only. All
 * methods are atomic.
 */
export interface Mailbox {
  put(box: string, slot: string, sealed: string, bounds: PutBounds): Awaitable<PutResult>;
  /**
   * Returns the answers of a box, in the order in which they were stored, and whether the box is
   * closed.
   */
  list(
    box: string,
  ): Awaitable<{ readonly answers: readonly StoredAnswer[]; readonly isClosed: boolean }>;
  /**
   * Removes answers of a box, as `list` returned them, so that others find room. The other answers
   * keep their order. Answers that are gone are ignored.
   */
  remove(box: string, answers: readonly StoredAnswer[]): Awaitable<void>;
  /**
   * Closes a box: later answers are refused, and the stored answers stay. A box without answers can
   * be closed, too.
   * @param expiresAt - time at which the mailbox may forget the box, in milliseconds since the
   * epoch
   */
  close(box: string, expiresAt: number): Awaitable<void>;
}
