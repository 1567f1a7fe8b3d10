import type { ClientStep } from './client-step.ts';
import type { ProgramState } from './program-state.ts';
import type { UndoneStep } from './undo-types.ts';

/** An unused answer, and why. */
export interface IgnoredAnswer {
  readonly stepId: string;
  readonly why: 'unknown' | 'asked otherwise' | 'invalid' | 'not accepted';
}

/** A saga and its version, by name. */
export interface SagaVersion {
  readonly name: string;
  readonly version: string;
}

/**
 * Reason for a commit: before compensation, after a pivot, or after a step; `chance`: a repetition
 * may take another branch; `vital`: nobody has a token of the saga yet, and a step follows that must
 * not be lost.
 */
export type CommitReason = 'undo' | 'pivot' | 'chance' | 'step' | 'vital';

/** A state to commit, in the form of the outcome of a turn. */
export interface CommitPoint extends SuspendedOutcome {
  readonly reason: CommitReason;
}

/** The turn that follows a commit. */
export interface CommittedTurn {
  /** Number of the turn, counted over the whole saga. */
  readonly turn: number;
  /** Size of the token with the committed state, in bytes. */
  readonly tokenBytes: number;
  /** End of the budget of the turn (ms since the epoch), as in `Runtime`. */
  readonly deadline: number | undefined;
}

/** Outcome of a turn that waits for the client or the clock. */
export interface SuspendedOutcome {
  readonly status: 'suspended';
  readonly state: ProgramState;
  /** Steps for the client; empty if the client only has to come back. */
  readonly steps: readonly ClientStep[];
  /** If nothing is asked: time to wait before the next request, in milliseconds. */
  readonly retryAfterMs?: number;
  /** `true` if the saga is being undone and does nothing else. Default `false`. */
  readonly undoes?: true;
  /**
   * If a question is open: time at which the saga continues without an answer (ms since the epoch).
   * Default: never.
   */
  readonly due?: number;
  /** Latest time that the saga waits for (ms since the epoch). */
  readonly deadline?: number;
  /**
   * Bytes of JSON that the token must still hold: the answers that the saga waits for. Default: none.
   */
  readonly reserves?: number;
  /** Texts for the user in the meantime. */
  readonly content?: readonly string[];
  /** `true` if the content holds a page of `checkpoint(text)`, which no later turn shows again. */
  readonly hasPage?: true;
  /** Number of the client's answers that were accepted in this turn. */
  readonly accepted: number;
  readonly ignored: readonly IgnoredAnswer[];
}

/** Members of the outcome of a turn in which the saga ends. */
interface EndedOutcome {
  /**
   * Final state, for recordings. Undefined if a replay of the state would not reach the same end.
   */
  readonly state?: ProgramState;
  readonly ignored: readonly IgnoredAnswer[];
}

/** Outcome of one turn of a program. */
export type Outcome =
  | SuspendedOutcome
  | (EndedOutcome & { readonly status: 'completed'; readonly result: unknown })
  | (EndedOutcome & {
      /** The saga starts over as another program, in the same turn. */
      readonly status: 'continued';
      readonly program: SagaVersion;
      readonly args: unknown;
      /** Last reported progress, where the other program continues. */
      readonly progress: number | undefined;
      /** Number of the client's answers that were accepted before the saga started over. */
      readonly accepted: number;
    })
  | (EndedOutcome & {
      readonly status: 'failed';
      readonly error: unknown;
      /** Steps that were undone, last first. */
      readonly compensated: readonly UndoneStep[];
      /** Steps that could not be undone. */
      readonly uncompensated: readonly UndoneStep[];
    });
