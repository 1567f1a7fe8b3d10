/** What a saga is: the words to write one, the journal, the replay. Pure: everything that varies comes in. */
export {
  elicit,
  elicitUrl,
  type Elicit,
  type ElicitOptions,
  type ElicitOutcome,
  type ElicitUrlOptions,
  type FallbackContext,
} from './elicit.ts';
export { listRoots, sample } from './sample.ts';
export { step, type StepContext, type StepOptions, type Compensable } from './step.ts';
export type { Context, Register } from './model/context.ts';
export type {
  BoundCompensator,
  Compensator,
  CompensatorContext,
  BoundUndo,
  UndoContext,
  UndoFacts,
  UndoFunction,
  UndoneStep,
  UndoPolicy,
} from './model/undo.ts';
export type { Icon, ToolFields } from './model/tool-fields.ts';
export type { SagaBody, Command, Steps, CommandSpec, LogLevel } from './model/command.ts';
export type {
  ClientAnswer,
  ClientStep,
  MediaContent,
  MessageContent,
  Provenance,
  Root,
  SampleParams,
  SampleResult,
  SamplingMessage,
  TextContent,
} from './model/client-step.ts';
export type { ClientNeed } from './errors.ts';
export type { Question, Route } from './model/question.ts';
export type { HistoryEntry, SagaHistory, TimelineEntry } from './model/history.ts';
export type { GoesOn, Outcome, IgnoredAnswer } from './model/outcome.ts';
export { engineVersion, type ProgramState } from './model/program-state.ts';
export type { Awaitable, HostSampling, ProgramLimits, Runtime, StepEvent } from './model/runtime.ts';
export type { EndRequest, Origin, PreviousProgram, Program } from './model/program.ts';
export type { StepCall, StepGiven } from './model/step-call.ts';
export { all, allSettled, race, scope } from './group.ts';
export type {
  Branch,
  Branches,
  BranchResult,
  BranchResults,
  RaceResult,
  Settled,
  SettledResults,
} from './group.ts';
export { call, type CallArguments } from './call.ts';
export { info, now, random, uuid, type SagaInfo } from './read.ts';
export { log, progress } from './tell.ts';
export { checkpoint } from './checkpoint.ts';
export { abort, compensate, pivot, type CompensateOptions } from './compensate.ts';
export { compensator } from './compensator.ts';
export { continueAs } from './continue-as.ts';
export { orphan } from './orphan.ts';
export { patched, type PatchOptions } from './patched.ts';
export { poll, sleep, sleepUntil, type PollOptions } from './wait.ts';
export { saga } from './saga.ts';
export { promptSaga } from './prompt-saga.ts';
export type {
  PromptArguments,
  PromptMessage,
  PromptOptions,
  PromptResult,
  PromptSaga,
} from './prompt-saga.ts';
export { resourceSaga } from './resource-saga.ts';
export type {
  ResourceArguments,
  ResourceContents,
  ResourceInput,
  ResourceOptions,
  ResourceResult,
  ResourceSaga,
} from './resource-saga.ts';
export type { CompleteVariable, UriTemplate, UriVariables } from './uri-template.ts';
export type { CheckedBody } from './checked-body.ts';
export type { CheckedResult } from './checked-result.ts';
export type { CheckedUndo } from './checked-undo.ts';
export type { BodyInput, BodyResult, ContentBlock, Saga, SagaOptions, ToolResult } from './saga.ts';
export type { RetryPolicy } from './retry.ts';
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
} from './errors.ts';
export { assertJson, InvalidJson, type Json } from './json.ts';
export { decode, encode, CodecError } from './codec.ts';
export { toJsonSchema, validate } from './standard-schema.ts';
export type { InferInput, InferOutput, LooseFields, Schema } from './standard-schema.ts';
