/** An XState machine as a saga: what the client does and what runs here, as actor logic; and what makes a saga of it. */
export {
  machineSaga,
  type MachineProblem,
  type MachineSaga,
  type MachineSagaOptions,
} from './machine-saga.ts';
export { elicitation, type Elicitation, type ElicitationOptions } from './elicitation.ts';
export { elicitationUrl, type ElicitationUrlOptions } from './elicitation-url.ts';
export { sampling, type SamplingOptions } from './sampling.ts';
export { roots } from './roots.ts';
export { effect, type EffectLogic, type EffectOptions } from './effect.ts';
export type { OfInput, ClientStepLogic, StepEnd, StepEndEvent, StepSnapshot } from './step-logic.ts';
export {
  cancelled,
  declined,
  invalid,
  refused,
  stepError,
  type GuardedEvent,
  type StepFailure,
  type StepFailureReason,
} from './step-error.ts';
export { toMermaid, type ToMermaidOptions } from './mermaid.ts';
export { MachineMismatch, MachineRefused, MachineStuck } from './errors.ts';
export type { ChildState, DelayState, MachineState, MigratedState } from './machine-state.ts';
export type { MigrationSource } from './machine-options.ts';
