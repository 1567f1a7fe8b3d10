/**
 * Effects and types for authors of sagas. Pure: the host passes in all I/O, clocks, and randomness.
 */
export {
  elicit,
  elicitUrl,
  type Elicit,
  type ElicitOptions,
  type ElicitOutcome,
  type ElicitUrl,
  type ElicitUrlOptions,
  type FallbackContext,
} from './author/elicit.ts';
export { listRoots, sample } from './author/sample.ts';
export { step, type StepContext, type StepOptions, type Compensable } from './author/step.ts';
export type { AnswerBy, Register, RequestUser, Services, User } from './model/register.ts';
export type {
  BoundCompensator,
  Compensator,
  CompensatorContext,
  UndoContext,
  UndoFacts,
  UndoFunction,
  UndoneStep,
  UndoPolicy,
  UnknownUndoContext,
  WhenUnknown,
} from './model/undo-types.ts';
export type {
  ContentBlock,
  MessageContent,
  SamplingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from './model/content.ts';
export type { Answerer } from './model/answerer.ts';
export type { Icon, ToolFields } from './model/tool-fields.ts';
export type { SagaBody, Command, GuardedCommand, Steps, LogLevel } from './model/command.ts';
export type {
  ClientStep,
  Provenance,
  Root,
  SampleAnswer,
  SampleParams,
  SampleResult,
  SampleTool,
  SamplingMessage,
} from './model/client-step.ts';
export type { ClientNeed } from './values/errors.ts';
export type { TimelineEntry } from './model/history.ts';
export type { IgnoredAnswer } from './model/outcome.ts';
export type { Awaitable, HostSampling } from './model/runtime.ts';
export type { PreviousProgram, Program } from './model/program.ts';
export { all, allSettled, race, scope } from './author/all-race-scope.ts';
export { each, type EachOptions, type KeyedEachOptions } from './author/each.ts';
export type { Branch, Branches, BranchResult, Settled } from './author/all-race-scope.ts';
export { call, type CallArguments } from './author/call.ts';
export { info, now, random, uuid, type SagaInfo } from './author/read.ts';
export { log, progress } from './author/tell.ts';
export { checkpoint } from './author/checkpoint.ts';
export { abort, pivot } from './author/pivot-and-abort.ts';
export { compensator } from './author/compensator.ts';
export { ignore } from './author/ignore.ts';
export { continueAs } from './author/continue-as.ts';
export { patched, type PatchOptions } from './author/patched.ts';
export { poll, sleep, type PollOptions } from './author/sleep-and-poll.ts';
export {
  approval,
  type ApprovalOptions,
  type Delivery,
  type Escalation,
  type NoFields,
} from './author/outside/approval.ts';
export type { Approval, ApprovalAnswer } from './author/outside/decide-by-answers.ts';
export { waitFor, type Registration, type WaitForOptions } from './author/outside/wait-for.ts';
export type { OutsideUser, Receipt, RecordedReceipt } from './model/outside.ts';
export { saga } from './author/sagas/saga.ts';
export { promptSaga } from './author/sagas/prompt-saga.ts';
export type {
  PromptArguments,
  PromptMessage,
  PromptOptions,
  PromptResult,
  PromptSaga,
} from './author/sagas/prompt-saga.ts';
export { resourceSaga } from './author/sagas/resource-saga.ts';
export type {
  ResourceArguments,
  ResourceContents,
  ResourceInput,
  ResourceOptions,
  ResourceResult,
  ResourceSaga,
} from './author/sagas/resource-saga.ts';
export type { CompleteVariable, UriTemplate, UriVariables } from './values/uri-template.ts';
export type { CheckedBody } from './author/checks/checked-body.ts';
export type { CheckedResult } from './author/checks/checked-result.ts';
export type {
  BodyInput,
  NoInput,
  BodyResult,
  GuardedSaga,
  Saga,
  SagaOptions,
  ToolResult,
} from './author/sagas/saga.ts';
export { duration, type Duration } from './values/duration.ts';
export type { RetryPolicy } from './values/retry.ts';
export {
  AnswerConflict,
  ClientCannot,
  ElicitationRefused,
  InvalidInput,
  OutcomeUnknown,
  ReplayMismatch,
  SagaAborted,
  SagaCancelled,
  SagaError,
  SagaLimitExceeded,
  StepError,
  StepTimedOut,
  TurnAborted,
  type StepErrorData,
  type StepFacts,
} from './values/errors.ts';
export type { Json } from './values/json.ts';
export { toUuid } from './values/to-uuid.ts';
export { withJsonSchema } from './values/standard-schema.ts';
export type { InferInput, InferOutput, LooseFields, Schema } from './values/standard-schema.ts';
