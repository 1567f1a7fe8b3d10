/** An XState machine as a saga: what the client does and what runs here, as actor logic; and what makes a saga of it. */
export {
  machineSaga,
  type MachineProblem,
  type MachineSaga,
  type MachineSagaOptions,
} from './machine/machine-saga.ts';
export { elicitation, type Elicitation, type ElicitationOptions } from './author/elicitation.ts';
export { elicitationUrl, type ElicitationUrlOptions } from './author/elicitation-url.ts';
export { sampling, type SamplingOptions } from './author/sampling.ts';
export { roots } from './author/roots.ts';
export { effect, type EffectLogic, type EffectOptions } from './author/effect.ts';
export type { OfInput, ClientStepLogic, StepEnd, StepEndEvent, StepSnapshot } from './author/step-logic.ts';
export {
  cancelled,
  declined,
  invalid,
  refused,
  stepError,
  type GuardedEvent,
  type StepFailure,
  type StepFailureReason,
} from './author/step-error.ts';
export { toMermaid, type ToMermaidOptions } from './draw/mermaid.ts';
export { MachineMismatch, MachineRefused, MachineStuck } from './model/errors.ts';
export type { ChildState, DelayState, MachineState, MigratedState } from './model/machine-state.ts';
export type { MigrationSource } from './model/machine-options.ts';
