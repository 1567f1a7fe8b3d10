import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import type { LiveSnapshot } from './live-actor.ts';
import type { MigratedState } from './machine-state.ts';

/** Origin of the state for `migrate`. */
export interface MigrationSource {
  /** Hash of the definition that stored the state. */
  readonly definition: string;
  /** Incompatibilities with the current machine, one clause each. */
  readonly incompatibilities: readonly string[];
}

/** State of a machine that is asked while it is active. */
export interface AskedState {
  /** ID of the state in the machine. */
  readonly nodeId: string;
  /** ID of the actor that asks, which is the ID of the step. */
  readonly stepId: string;
}

/** Options of a machine program. */
export interface MachineProgramOptions {
  readonly name: string;
  readonly machine: AnyStateMachine;
  /** States that are asked while they are active. */
  readonly asked: readonly AskedState[];
  /** Makes the result from the last snapshot. Undefined: the output of the machine. */
  readonly result: ((end: LiveSnapshot) => unknown) | undefined;
  readonly onMismatch: 'fail' | 'compensate';
  readonly drift: 'compatible' | 'refuse';
  readonly migrate: ((state: MigratedState, from: MigrationSource) => MigratedState) | undefined;
  /** Returns the name that `logicNamed` finds. */
  readonly nameOf: (logic: object) => string;
  readonly logicNamed: (name: string) => AnyActorLogic | undefined;
}
