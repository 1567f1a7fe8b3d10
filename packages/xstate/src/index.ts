/** An XState machine as a saga: what the client does and what runs here, as actor logic; and what makes a saga of it. */
export { machineSaga } from './machine-saga.ts';
export type { MachineProblem, MachineSaga, MachineSagaOptions } from './machine-saga.ts';
export { elicitation, type Elicitation, type ElicitationOptions } from './elicitation.ts';
export { elicitationUrl, type ElicitationUrlOptions } from './elicitation-url.ts';
export { sampling, type SamplingOptions } from './sampling.ts';
export { roots } from './roots.ts';
export { effect, type EffectLogic, type EffectOptions } from './effect.ts';
export type { OfInput } from './of-input.ts';
export type { ClientStepLogic, StepEnd, StepEndEvent, StepSnapshot } from './step-logic.ts';
export { cancelled, declined, invalid, refused, stepError } from './step-error.ts';
export type { GuardedEvent, StepFailure, StepFailureReason } from './step-error.ts';
export { toMermaid, type ToMermaidOptions } from './mermaid.ts';
export { MachineMismatch, MachineRefused, MachineStuck } from './errors.ts';
export type { ChildState, DelayState, MachineState, MigratedState } from './machine-state.ts';
export type { MigrationSource } from './machine-program.ts';
