import type { UndoneStep, IgnoredAnswer } from '@mcp-saga/core';
import type { StepEvent } from '@mcp-saga/core/program';

/** A refused token with its true reason. The client sees only the frozen error, or `clock_behind` for `not_yet_valid`. */
export interface Rejection {
  /** Why: `expired`, `principal`, `undecryptable`, … */
  readonly reason: string;
  /** How many rejections were not reported in the second before, because there were too many. */
  readonly suppressed: number;
}

/** Facts about one turn that ended. */
export interface TurnFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** From 1. */
  readonly turn: number;
  readonly status: 'suspended' | 'completed' | 'failed';
  /** Error of a failed turn: for logs, never for the wire. Its `cause` is what a step threw in this process. */
  readonly error?: unknown;
  /** What a failed turn could not undo, where there is any. */
  readonly residue?: readonly LeftStep[];
  /** Bytes of the token that was sealed; 0 when the saga ended. */
  readonly tokenBytes: number;
  /** Milliseconds. */
  readonly durationMs: number;
}

/** A step that was not undone. */
export interface LeftStep extends UndoneStep {
  /** What its undo has failed with, where that was in this process: for logs, never for the wire. */
  readonly error?: unknown;
}

/** A saga that waits for its client, and by which token it can be cancelled should the client never come. (E8) */
export interface SuspendedSagaFacts {
  readonly saga: string;
  readonly sagaId: string;
  readonly turn: number;
  /** Give it to `host.cancel`. It only cancels, opens only after `cancelAfter`, and needs no user. */
  readonly cancelToken: string;
  /** Milliseconds since the epoch: a minute after the client's token expires, or when a turn of the queue itself continues. */
  readonly cancelAfter: number;
}

/** A saga that has ended. (E8) */
export interface SettledSagaFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** What could not be undone: the client is told as well, but may not be there any more. */
  readonly residue: readonly UndoneStep[];
}

/** An answer that was not used, and why. */
export interface IgnoredAnswerFacts extends IgnoredAnswer {
  readonly saga: string;
  readonly sagaId: string;
}

/** A question that was refused sooner than a person can have read it. */
export interface InstantRefusal {
  readonly saga: string;
  readonly sagaId: string;
  readonly stepId: string;
  readonly action: 'decline' | 'cancel';
  /** Milliseconds from the question to the refusal. */
  readonly afterMs: number;
}

/** What a host tells its operator. None of these gets a token, a key or an answer. */
export interface HostHooks {
  /** A token was refused. At most ten a second. Default: `console.warn`, once a minute for each reason. */
  readonly onReject?: (rejection: Rejection) => void;
  /**
   * A client's answer was not used. Default: `console.warn`, once a minute for each saga, where a question changed; outside
   * production `onWarning` reports that.
   */
  readonly onIgnoredAnswer?: (answer: IgnoredAnswerFacts) => void;
  /** A client refused a question within `answers.instantRefusals.withinMs`, faster than any person. */
  readonly onInstantRefusal?: (refusal: InstantRefusal) => void;
  /** Something happened to a step. */
  readonly onStep?: (event: StepEvent & { readonly saga: string; readonly sagaId: string }) => void;
  /**
   * A saga waits for its client: replace the one message a delayed queue holds for this `sagaId`, unless that has a
   * higher `turn`, by one that calls `host.cancel(cancelToken)` at `cancelAfter`. Awaited, for `limits.hookTimeoutMs` at most.
   * Called with a guard, for sagas with `forks: 'refuse'`; and again where the client repeats the request, or the queue
   * delivers an older message, should this have been lost. (E8)
   */
  readonly onSuspended?: (saga: SuspendedSagaFacts) => unknown;
  /**
   * A saga has ended: remove the message, and have uncompensated steps seen to. Awaited, for `limits.hookTimeoutMs` at most. Called
   * again for repeated requests.
   */
  readonly onSettled?: (saga: SettledSagaFacts) => unknown;
  /** A turn has ended. Default: `console.error` for a failed turn and each uncompensated step, with errors in development only. */
  readonly onTurn?: (turn: TurnFacts) => void;
  /** Something failed without the client's knowledge. Default: `console.error`, with messages of the host's own errors only. */
  readonly onError?: (error: unknown) => void;
  /**
   * Advice: a token grows large, keys are ephemeral, `guard.leaseMs` is too short, a step outlives `limits.turnBudgetMs`. If `NODE_ENV` is
   * not `production`, also: a command was never yielded, a question is asked otherwise than before, a turn differs when it is
   * replayed at once. Default: `console.warn`.
   */
  readonly onWarning?: (message: string) => void;
}
