/** Write multi-step MCP tools as generators, and serve them without keeping state. */
export {
  abort,
  all,
  allSettled,
  call,
  checkpoint,
  compensate,
  compensator,
  continueAs,
  elicit,
  elicitUrl,
  info,
  listRoots,
  log,
  now,
  patched,
  pivot,
  poll,
  progress,
  promptSaga,
  race,
  random,
  resourceSaga,
  saga,
  sample,
  scope,
  sleep,
  sleepUntil,
  step,
  uuid,
} from '@mcp-saga/core';
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
} from '@mcp-saga/core';
export type {
  ClientStep,
  Compensator,
  ContentBlock,
  ElicitOutcome,
  Json,
  PreviousProgram,
  Program,
  PromptMessage,
  PromptResult,
  PromptSaga,
  Register,
  ResourceContents,
  ResourceResult,
  ResourceSaga,
  RetryPolicy,
  Saga,
  SagaOptions,
  SampleParams,
  SampleResult,
  SamplingMessage,
  Schema,
  StepContext,
  StepOptions,
  Steps,
  ToolResult,
  UndoneStep,
} from '@mcp-saga/core';
export { generateKey, SealError, TokenRefused, TokenTooLarge } from '@mcp-saga/seal';
export type { KeysOption } from '@mcp-saga/seal';
export { createSagaHost, type SagaHost } from './saga-host.ts';
export type { AttachOptions } from './mcp/attach.ts';
export type { McpServerLike } from './mcp/sdk.ts';
export { NeedsMissing, NotEnded, SagaHostError, type SagaHostErrorCode } from './wire/errors.ts';
export type { Principal, PrincipalOption, SagaCaller } from './model/caller.ts';
export type { RateLimitFacts, SagaHostOptions, Sampling } from './model/host-options.ts';
export type { HostLimits } from './model/host-limits.ts';
export type { HostHooks, Rejection, SettledSagaFacts, SuspendedSagaFacts, TurnFacts } from './model/hooks.ts';
export { memoryGuard } from './guard/memory-guard.ts';
export type { GuardClaim, GuardVerdict, SagaGuard } from './model/guard.ts';
export { memoryTaskStore } from './dialects/tasks/memory-task-store.ts';
export type { StoredTask, TaskStore } from './model/task-store.ts';
export type { SagaTelemetry, TraceContext } from './model/telemetry.ts';
export type { StepAnswer } from './wire/step-answers.ts';
export type { HostRequest } from './model/host-requests.ts';
export type { SagaInspection } from './requests/host.ts';
export type { CompletedTurn, FailedTurn, SagaTurn, SuspendedTurn } from './model/turn.ts';
export { publicMessageOf } from './wire/errors.ts';
