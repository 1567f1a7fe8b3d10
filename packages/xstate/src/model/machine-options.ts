import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import type { MigratedState } from './machine-state.ts';

/** Where a state comes from that is to be migrated. */
export interface MigrationSource {
  /** The hash of the definition it was kept with. */
  readonly definition: string;
  /** What of it does not fit, a sentence each. */
  readonly misfits: readonly string[];
}

/** What a machine program needs of its saga. */
export interface MachineProgramOptions {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly commitFirst: boolean;
  readonly onMismatch: 'fail' | 'compensate';
  readonly drift: 'compatible' | 'refuse';
  readonly migrate: ((state: MigratedState, from: MigrationSource) => MigratedState) | undefined;
  /** The name under which a logic is found again. */
  readonly nameOf: (logic: object) => string;
  readonly logicNamed: (name: string) => AnyActorLogic | undefined;
}
