import type { StepErrorData } from '@mcp-saga/core';
import type { StateValue } from './live-actor.ts';

/**
 * Stored machine, without facts that the definition implies. Its members, and those of its
 * children, have letters for names: a token contains them uncompressed, and whole names would make
 * the tokens of machines a tenth longer.
 */
export interface MachineRecord {
  /** Active states. */
  readonly v: StateValue;
  /** Context, if not empty. */
  readonly c?: unknown;
  /** Keys that the initial context has by a condition, and that this context never had. */
  readonly a?: readonly string[];
  /** IDs of the states that history states remember. */
  readonly h?: { readonly [id: string]: readonly string[] };
  /**
   * Positions of active states in document order, if XState would restore another order. A changed
   * machine uses their ranks.
   */
  readonly o?: readonly number[];
  /** IDs of active states with an `onDone` that have completed and stayed active. */
  readonly f?: readonly string[];
  /** Children by ID. */
  readonly k?: { readonly [id: string]: ChildRecord };
  /** Status of an ended machine, of which nothing else is stored. */
  readonly s?: string;
}

/**
 * Source, system ID, and snapshot sync of a spawned child. Omitted for an invoke of an active
 * state.
 */
export interface SpawnRecord {
  readonly s?: string;
  readonly y?: string;
  readonly n?: 1;
}

/** Stored child of a machine. */
export type ChildRecord = SpawnRecord &
  (
    | { readonly m: MachineRecord }
    /** Ended step without its output: `d`one, `e`rror, or `x`: stopped. */
    | { readonly z: 'd' | 'e' | 'x' }
    /** Another actor, as XState persists it. */
    | { readonly p: { readonly [key: string]: unknown } }
    | ActiveStepRecord
  );

/** Pending client step or effect. */
export interface ActiveStepRecord {
  /** Input. */
  readonly i?: unknown;
  /** Turn that created a client step, if not the first. Part of the step ID. */
  readonly r?: number;
  /**
   * Attempts of an effect: number, time of the next one, `true` for an unknown outcome, run of the
   * path, and the interrupted turn that may have continued behind the effect.
   */
  readonly e?: readonly [
    attempts: number,
    notBefore: number,
    unknown: boolean,
    run: number | undefined,
    interrupted?: number,
  ];
  /** Journal of a wait for answers from outside. */
  readonly w?: WaitRecord;
}

/**
 * Wait for answers from outside: its path, the name of its logic, its times (ms since the epoch),
 * and texts of its journal.
 */
export type WaitRecord = readonly [
  path: string,
  logic: string,
  due: number,
  until: number,
  head: string,
  structure: string,
  server: string,
];

/** Wait whose links are to be withdrawn, with its input. */
export interface LeftWaitRecord {
  readonly i?: unknown;
  readonly w: WaitRecord;
}

/** Delayed event: `[at, path of the actor, ID, event, path of another target]`. */
export type TimerRecord = readonly [
  at: number,
  path: string,
  /**
   * Rest of the event type for a delayed transition, which has no event; otherwise the ID of the
   * event.
   */
  id: string,
  event?: object,
  target?: string,
];

/** Stored state of a machine saga. */
export interface SagaRecord {
  /** Hash of the machine's definition. */
  readonly d: string;
  /** Major version of XState. */
  readonly x: number;
  readonly m: MachineRecord;
  readonly t?: readonly TimerRecord[];
  /** Waits of states that the machine has left. */
  readonly w?: readonly LeftWaitRecord[];
}

/** Reason of an undo, stored in place of the machine. */
export interface UndoRecord {
  /** Encoded error; null if the saga was ended from outside. */
  readonly error: StepErrorData | null;
  /** Path of the failed step. */
  readonly step?: string;
  /** Refusal of the user, if any. */
  readonly refusal?: 'decline' | 'cancel';
  /** Waits to withdraw before the undo. */
  readonly waits?: readonly LeftWaitRecord[];
}
