import type { UndoneStep, IgnoredAnswer } from '@mcp-saga/core';
import type { StepEvent } from '@mcp-saga/core/program';

/** Rejected token. The client only sees a fixed error, or `clock_behind` for `not_yet_valid`. */
export interface Rejection {
  /** Reason, such as `expired`, `principal`, or `undecryptable`. */
  readonly reason: string;
  /**
   * Number of rejections in the second before that were not reported, because of the limit of ten.
   */
  readonly suppressed: number;
}

/** Facts about a finished turn. */
export interface TurnFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  readonly status: 'suspended' | 'completed' | 'failed';
  /**
   * Error of a failed turn, for logs only. `cause` is the error thrown by a step in this process.
   */
  readonly error?: unknown;
  /** Uncompensated steps of a failed turn, if any. */
  readonly uncompensated?: readonly UncompensatedStep[];
  /** Size of the new token, in bytes; 0 if the saga ended. */
  readonly tokenBytes: number;
  /** Duration of the turn, in milliseconds. */
  readonly durationMs: number;
}

/** Step that was not undone. */
export interface UncompensatedStep extends UndoneStep {
  /** Error of the undo if known in this process, for logs only. */
  readonly error?: unknown;
}

/** Saga that has ended. */
export interface SettledSagaFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** Uncompensated steps. The result tells the client, which may be gone. */
  readonly uncompensated: readonly UndoneStep[];
}

/** Answer that was not used, with the reason. */
export interface IgnoredAnswerFacts extends IgnoredAnswer {
  readonly saga: string;
  readonly sagaId: string;
}

/**
 * Callbacks for the operator. None receives a token of a client, a key, or an answer. Errors of
 * hooks go to `onError`.
 */
export interface HostHooks {
  /**
   * Called for a rejected token, at most ten times a second. Default: `console.warn`, once a minute
   * per reason.
   */
  readonly onReject?: (rejection: Rejection) => void;
  /**
   * Called for an answer that was not used. Default: `console.warn` for a changed question, once a
   * minute per saga; outside of production, `onWarning` reports changed questions.
   */
  readonly onIgnoredAnswer?: (answer: IgnoredAnswerFacts) => void;
  /** Called for each event of a step, such as `started`, `succeeded`, or `failed`. */
  readonly onStep?: (event: StepEvent & { readonly saga: string; readonly sagaId: string }) => void;
  /**
   * Called when a saga has ended: follow up on uncompensated steps. Awaited for at most
   * `limits.hookTimeout`. Called again for repeated requests.
   */
  readonly onSettled?: (saga: SettledSagaFacts) => unknown;
  /**
   * Called after each turn. Default: `console.error` for failed turns and uncompensated steps, in
   * full in development only.
   */
  readonly onTurn?: (turn: TurnFacts) => void;
  /**
   * Called for errors that the client does not see. Default: `console.error`, with messages of the
   * host's own errors only.
   */
  readonly onError?: (error: unknown) => void;
  /**
   * Called with advice: a token grows large, keys are ephemeral, a step exceeds
   * `limits.turnBudget`, a client refuses faster than any person. Outside of production, also for a
   * command without `yield*`, a changed question, and a turn that differs when replayed. Default:
   * `console.warn`.
   */
  readonly onWarning?: (message: string) => void;
}
