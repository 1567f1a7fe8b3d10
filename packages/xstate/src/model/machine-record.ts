import type { StepErrorData } from '@mcp-saga/core';
import type { StateValue } from './live-actor.ts';

/** A stored machine, without what the definition implies. Names are short, since a token contains them. */
export interface MachineRecord {
  /** The active states. */
  readonly v: StateValue;
  /** The context; left out where it is empty. */
  readonly c?: unknown;
  /** What history states remember: ids of states. */
  readonly h?: { readonly [id: string]: readonly string[] };
  /** Positions of active states in document order, if XState would restore another order. A changed machine uses their ranks. */
  readonly o?: readonly number[];
  /** IDs of active states with an `onDone` that have completed and stayed active. */
  readonly f?: readonly string[];
  /** The children, by id. */
  readonly k?: { readonly [id: string]: ChildRecord };
  /** The status of a machine that has ended: nothing else of it is kept. */
  readonly s?: string;
}

/** How a child came to be; left out for what an active state invokes. */
export interface SpawnRecord {
  readonly s?: string;
  readonly y?: string;
  readonly n?: 1;
}

/** A child of a machine. */
export type ChildRecord = SpawnRecord &
  (
    | { readonly m: MachineRecord }
    /** A step that has ended, its output not kept: `d`one, `e`rror, or `x`: stopped. */
    | { readonly z: 'd' | 'e' | 'x' }
    /** Another actor, as XState persists it; an active one without its status. */
    | { readonly p: { readonly [key: string]: unknown } }
    | ActiveStepRecord
  );

/** A client step that waits, or an effect that is to be run. */
export interface ActiveStepRecord {
  /** The input. */
  readonly i?: unknown;
  /** The turn in which a client step was created, from the second one on: a part of its id. */
  readonly r?: number;
  /**
   * Attempts of an effect: their number, the time of the next one, whether one may have happened, the run of the path, and the
   * interrupted turn that may have continued behind the effect.
   */
  readonly e?: readonly [
    attempts: number,
    notBefore: number,
    unknown: boolean,
    run: number | undefined,
    interrupted?: number,
  ];
}

/** Something that happens at a time: `[at, path of the actor, id, event, path of another target]`. */
export type TimerRecord = readonly [
  at: number,
  path: string,
  /** The rest of the event's type for a delayed transition, where nothing follows; else the id of the delayed event. */
  id: string,
  event?: object,
  target?: string,
];

/** A machine and all that is known of it between two turns. */
export interface SagaRecord {
  /** The hash of the machine's definition. */
  readonly d: string;
  /** The major version of XState. */
  readonly x: number;
  readonly m: MachineRecord;
  readonly t?: readonly TimerRecord[];
}

/** What stands in the place of the machine while the saga is being undone: why. */
export interface UndoRecord {
  /** The error, encoded as steps encode theirs; null where the saga was ended from outside. */
  readonly u: StepErrorData | null;
  /** The step it is the error of. */
  readonly s?: string;
  /** How the user refused, where that is why. */
  readonly a?: 'decline' | 'cancel';
}
