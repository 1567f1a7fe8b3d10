import type { ClientStep } from './client-step.ts';
import type { ProgramState } from './program-state.ts';
import type { UndoneStep } from './undo.ts';

/** An answer that was not used, and why. */
export interface IgnoredAnswer {
  readonly stepId: string;
  readonly why: 'unknown' | 'asked otherwise' | 'invalid' | 'not accepted';
}

/** A saga and its version, by name. */
export interface SagaVersion {
  readonly name: string;
  readonly version: string;
}

/** Reason for a commit: before compensation, after a pivot, or after a step; `chance`: a repetition may take another branch. */
export type CommitReason = 'undo' | 'pivot' | 'chance' | 'step';

/** A state to commit, as the outcome of a turn that ends there. */
export interface CommitPoint extends SuspendedOutcome {
  readonly reason: CommitReason;
}

/** The turn that follows a commit. */
export interface CommittedTurn {
  /** Number of the turn, counted over the whole saga. */
  readonly turn: number;
  /** Size of the token with the committed state, in bytes. */
  readonly tokenBytes: number;
  /** When the budget of the turn is used up (ms since the epoch), as in `Runtime`. */
  readonly deadline: number | undefined;
}

/** Outcome of a turn that waits for the client or the clock. */
export interface SuspendedOutcome {
  readonly status: 'suspended';
  readonly state: ProgramState;
  /** What the client must do; empty when there is nothing to do but come again. */
  readonly steps: readonly ClientStep[];
  /** When nothing is asked: how long to wait before coming again. */
  readonly retryAfterMs?: number;
  /** Whether it is being ended, and what it did undone: nothing else is done from here on. Default false. */
  readonly undoes?: true;
  /** When something is asked: when the saga goes on without the client (ms since the epoch). Default: never. */
  readonly due?: number;
  /** The latest time that something in it waits for (ms since the epoch). */
  readonly deadline?: number;
  /** What the user may read meanwhile. */
  readonly content?: readonly string[];
  /** `true` if the content holds a page of `checkpoint(text)`, which no later turn shows again. */
  readonly hasPage?: true;
  /** How many of the client's answers were accepted in this turn. */
  readonly accepted: number;
  readonly ignored: readonly IgnoredAnswer[];
}

/** How one turn of a program ended. (U1) */
export type Outcome =
  | SuspendedOutcome
  | {
      readonly status: 'completed';
      readonly result: unknown;
      readonly ignored: readonly IgnoredAnswer[];
    }
  | {
      /** It starts over as another program, in the same turn. */
      readonly status: 'continued';
      readonly program: SagaVersion;
      readonly args: unknown;
      /** The last progress told: it goes on from there. (W5) */
      readonly progress: number | undefined;
      /** How many of the client's answers were accepted before it started over. */
      readonly accepted: number;
      readonly ignored: readonly IgnoredAnswer[];
    }
  | {
      readonly status: 'failed';
      readonly error: unknown;
      /** What was undone, last first. */
      readonly compensated: readonly UndoneStep[];
      /** What could not be undone. */
      readonly residue: readonly UndoneStep[];
      readonly ignored: readonly IgnoredAnswer[];
    };
