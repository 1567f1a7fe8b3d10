import type { ClientStep, UndoneStep } from '@mcp-saga/core';

/** Report on the answers that a request brought. */
interface ReportedAnswers {
  /** IDs of answers that no step waited for: the first five, cut to 128 characters. */
  readonly unknown?: readonly string[];
}

/** A saga that waits for its client. The token is all there is of it: the host has forgotten it. */
export interface SuspendedTurn extends ReportedAnswers {
  readonly status: 'suspended';
  /** Give it back, verbatim, with the answers. */
  readonly token: string;
  /** What the client must do; empty when there is nothing to do but come again. */
  readonly steps: readonly ClientStep[];
  /** When the token is no longer good, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** How long to wait before coming again, in milliseconds, when nothing is asked. */
  readonly retryAfterMs?: number;
  /** Number of turns that no client came for: a turn was committed before them. Absent: none. */
  readonly ownTurns?: number;
  /** When something is asked: when the saga goes on without the client (ms since the epoch). Default: never. */
  readonly due?: number;
  /** What the user may read meanwhile. */
  readonly content?: readonly string[];
  /** `true` if the content holds a page of `checkpoint(text)`, which no later turn shows again. */
  readonly hasPage?: true;
  /** The name of the saga. */
  readonly saga: string;
  readonly sagaId: string;
  /** From 1. */
  readonly turn: number;
}

/** A saga that has ended well. */
export interface CompletedTurn extends ReportedAnswers {
  readonly status: 'completed';
  /** What the body returned; with an output schema, as the schema parsed it. */
  readonly result: unknown;
  /** The name of the saga. */
  readonly saga: string;
  readonly sagaId: string;
  readonly turn: number;
}

/** A saga that has failed. */
export interface FailedTurn extends ReportedAnswers {
  readonly status: 'failed';
  /** What failed it: for hooks and logs. The client gets {@link publicMessageOf} it. */
  readonly error: unknown;
  /** The steps that were undone, last first. */
  readonly compensated: readonly UndoneStep[];
  /** The steps that could not be undone. */
  readonly residue: readonly UndoneStep[];
  /** The name of the saga. */
  readonly saga: string;
  readonly sagaId: string;
  readonly turn: number;
}

/** How one request to a host ended. */
export type SagaTurn = SuspendedTurn | CompletedTurn | FailedTurn;
