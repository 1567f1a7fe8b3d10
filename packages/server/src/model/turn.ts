import type { ClientStep, UndoneStep } from '@mcp-saga/core';

/** Report on the answers of a request. */
interface ReportedAnswers {
  /** IDs of answers that no step waited for: the first five, truncated to 128 characters. */
  readonly unknown?: readonly string[];
  /** Reason why no answer of the calling model was used. Set by dialects, for the model. */
  readonly invalidAnswers?: string;
}

/** Saga that waits for its client. The token contains the entire state. */
export interface SuspendedTurn extends ReportedAnswers {
  readonly status: 'suspended';
  /** Token to pass to `resume` unchanged, with the answers. */
  readonly token: string;
  /** Questions for the client; empty if the saga only waits or was committed. */
  readonly steps: readonly ClientStep[];
  /** Time at which the token expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Time to wait before the next request if nothing is asked, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Number of turns without a request of the client. Absent: none. */
  readonly ownTurns?: number;
  /**
   * Time at which the saga continues even without answers, in milliseconds since the epoch.
   * Default: never.
   */
  readonly due?: number;
  /** Text for the user, such as the page of a `checkpoint` and reports on open steps. */
  readonly content?: readonly string[];
  /** `true` if `content` holds a page of `checkpoint(text)`, which no later turn repeats. */
  readonly hasPage?: true;
  /** Name of the saga. */
  readonly saga: string;
  readonly sagaId: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
}

/** Saga that completed. */
export interface CompletedTurn extends ReportedAnswers {
  readonly status: 'completed';
  /** Result of the body, parsed by the output schema if defined. */
  readonly result: unknown;
  /** `true` if the result is a whole result of a tool, by a saga without an output schema. */
  readonly isContent?: true;
  readonly saga: string;
  readonly sagaId: string;
  readonly turn: number;
}

/** Saga that failed. */
export interface FailedTurn extends ReportedAnswers {
  readonly status: 'failed';
  /** Error of the saga, for hooks and logs. Clients get {@link publicMessageOf} it. */
  readonly error: unknown;
  /** Steps that were undone, the last step first. */
  readonly compensated: readonly UndoneStep[];
  /** Steps that were not undone. */
  readonly uncompensated: readonly UndoneStep[];
  readonly saga: string;
  readonly sagaId: string;
  readonly turn: number;
}

/** Result of a request to a host. */
export type SagaTurn = SuspendedTurn | CompletedTurn | FailedTurn;
