/**
 * Names that other packages of this repository share with the server. Not public: they change with
 * any release.
 * @module
 */
export {
  type ClientNeed,
  type Command,
  type Services,
  type User,
  type InferInput,
  type InferOutput,
  type Root,
  type StepFacts,
} from '@mcp-saga/core';
export {
  keyText,
  isAuthoringError,
  isJsonObject,
  isProgram,
  isRecord,
  isUnknownOutcome,
  present,
  runtimeAfter,
  toStepErrorData,
  type CommitPoint,
  type CommittedTurn,
  type SuspendedOutcome,
  CodecError,
  decode,
  encode,
  engineOf,
  engineVersion,
  validate,
  type ClientAnswer,
  type EndRequest,
  type HistoryEntry,
  type Outcome,
  type OutsideAnswer,
  type OutsideQuestion,
  type RuntimeOutside,
  type TicketFacts,
  type ProgramState,
  type Question,
  type Route,
  type RetryPlan,
  type Runtime,
  type SagaEngine,
  type SagaHistory,
  type StepCall,
  type StepGiven,
  type StepEvent,
} from '@mcp-saga/core/program';
export {
  durationForms,
  millisecondsOf,
  describeUnknownOption,
  lineForPeople,
  didYouMean,
  nearestName,
  type NamesOf,
} from '@mcp-saga/core/shared';
export { givenOptions, hostOf } from './saga-host.ts';
export { hostCheck } from './http/allowed-hosts.ts';
export { partsOf } from './requests/host.ts';
export { replaceGuard, storeGuard } from './store/store-guard.ts';
export type { Fence, GuardClaim, GuardVerdict, SagaGuard } from './model/guard.ts';
export { toSealedSaga } from './token/sealed-saga.ts';
export type { TestingOptions } from './model/host-options.ts';
export type {
  StepSpan,
  TracedEnd,
  TracedEvent,
  TracedStep,
  TracedTurn,
  TurnSpan,
} from './model/telemetry.ts';
