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

/**
 * Reason why a turn ended before its time. `undo`: it undoes next; `pivot`: it has passed a pivot; `step`: it has run a step;
 * `chance`: it has come to something that a repetition may not come to, such as a timer that passed or a step that failed.
 */
export type GoesOn = 'undo' | 'pivot' | 'chance' | 'step';

/** How one turn of a program ended. (U1) */
export type Outcome =
  | {
      readonly status: 'suspended';
      readonly state: ProgramState;
      /** What the client must do; empty when there is nothing to do but come again. */
      readonly steps: readonly ClientStep[];
      /** When nothing is asked: how long to wait before coming again. */
      readonly retryAfterMs?: number;
      /** Why the turn was ended before its time, so that it is kept and the next one goes on at once. */
      readonly goesOn?: GoesOn;
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
