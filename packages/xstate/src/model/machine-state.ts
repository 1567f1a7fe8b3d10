import type { StateValue } from './live-actor.ts';

/** A machine between two requests, as a migration sees it and gives it back. */
export interface MachineState {
  /** The active states. */
  readonly value: StateValue;
  readonly context: { readonly [key: string]: unknown };
  /** What history states remember: ids of states. */
  readonly history?: { readonly [id: string]: readonly string[] };
  /** IDs of active states that have completed and whose `onDone` was already considered: XState does not take it again. */
  readonly completed?: readonly string[];
  /**
   * Order in which XState looks at the active states for transitions without an event. Ignored if `value` changes.
   *
   * @default the order that XState gives a restored `value`
   */
  readonly order?: unknown;
  /** By id. To have an invoke started that is new, add a child with its `input`. */
  readonly children: { readonly [id: string]: ChildState };
}

/** A child of a machine. `src`, `systemId` and `sync` are left out for what an active state invokes. */
export interface ChildState {
  readonly src?: string;
  readonly systemId?: string;
  /** Whether its parent hears of its snapshots. */
  readonly sync?: boolean;
  /** The input of a step that waits or is to be run. */
  readonly input?: unknown;
  /** Of a child machine. */
  readonly machine?: MachineState;
  /** What else is kept of it, to be left as it is. */
  readonly kept?: unknown;
}

/** A delay that has not passed. */
export interface DelayState {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The path of the actor that gets the event: empty for the machine itself. */
  readonly actor: string;
  /** The type of a delayed transition without `xstate.after.`, such as `1000.order.waiting`; or the id of the event. */
  readonly id: string;
  /** The event, where it is not a delayed transition's. */
  readonly event?: object;
  /** The path of another actor that gets it. */
  readonly target?: string;
}

/** The whole of a saga's machine. */
export interface MigratedState extends MachineState {
  readonly delays: readonly DelayState[];
}
