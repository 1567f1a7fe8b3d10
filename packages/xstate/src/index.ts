/** Runs an XState machine as a saga, with client steps and effects as actor logic. */
export {
  machineSaga,
  type MachineProblem,
  type MachineSaga,
  type MachineSagaOptions,
} from './machine/machine-saga.ts';
export { idempotencyKeyOf, type PromiseStepOptions } from './machine/promise-steps.ts';
export type { StateAsk } from './machine/asked-states.ts';
export { elicit, type ElicitLogic, type ElicitLogicOptions } from './author/elicit.ts';
export { elicitUrl, type ElicitUrlLogicOptions } from './author/elicit-url.ts';
export { sample, type SampleLogicOptions } from './author/sample.ts';
export { listRoots } from './author/list-roots.ts';
export { approval, type ApprovalLogicOptions } from './author/approval.ts';
export { waitFor, type WaitForLogicOptions } from './author/wait-for.ts';
export type { OfInputs, OutsideLogic } from './author/outside-logic.ts';
export { step, type StepLogic, type StepLogicOptions } from './author/step.ts';
export type {
  OfInput,
  ClientStepLogic,
  StepEnd,
  StepEndEvent,
  StepSnapshot,
} from './author/step-logic.ts';
export {
  isCancelled,
  isDeclined,
  isInvalid,
  isRefused,
  stepError,
  type GuardedEvent,
  type StepFailure,
  type StepFailureReason,
} from './author/step-error.ts';
export { toMermaid, type ToMermaidOptions } from './draw/mermaid.ts';
export { MachineMismatch, MachineRefused, MachineStuck } from './model/errors.ts';
export type { ChildState, DelayState, MachineState, MigratedState } from './model/machine-state.ts';
export type { MigrationSource } from './model/machine-options.ts';
