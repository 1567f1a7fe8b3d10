import type { StateValue } from './live-actor.ts';

/** Stored machine as `migrate` receives and returns it. */
export interface MachineState {
  /** Active states. */
  readonly value: StateValue;
  readonly context: { readonly [key: string]: unknown };
  /** Keys that the initial context has by a condition, and that this context never had. */
  readonly absent?: readonly string[];
  /** IDs of the states that history states remember. */
  readonly history?: { readonly [id: string]: readonly string[] };
  /** IDs of completed active states. XState does not take their `onDone` again. */
  readonly completed?: readonly string[];
  /**
   * Order in which XState looks for transitions without an event. Ignored if `value` changes.
   * @default the order of a restored `value`
   */
  readonly order?: unknown;
  /** Children by ID. To start a new invoke, add a child with its `input`. */
  readonly children: { readonly [id: string]: ChildState };
}

/** Child of a machine. `src`, `systemId`, and `sync` are omitted for invokes of active states. */
export interface ChildState {
  readonly src?: string;
  readonly systemId?: string;
  /** `true` if the parent receives snapshots of the child. */
  readonly sync?: boolean;
  /** Input of a pending step. */
  readonly input?: unknown;
  /** State of a child machine. */
  readonly machine?: MachineState;
  /** Further stored data. Return it unchanged. */
  readonly kept?: unknown;
}

/** Pending delay. */
export interface DelayState {
  /** End of the delay, in milliseconds since the epoch. */
  readonly at: number;
  /** Path of the receiving actor; empty for the machine itself. */
  readonly actor: string;
  /**
   * Type of a delayed transition without `xstate.after.`, such as `1000.order.waiting`; or the ID
   * of the event.
   */
  readonly id: string;
  /** Event, unless the delay is of a delayed transition. */
  readonly event?: object;
  /** Path of the receiver, if another actor. */
  readonly target?: string;
}

/** Stored machine of a saga, with its delays. */
export interface MigratedState extends MachineState {
  readonly delays: readonly DelayState[];
}
