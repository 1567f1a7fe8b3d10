/** MCP tools with several steps, written as generator functions and served without server state. */
export {
  abort,
  all,
  allSettled,
  approval,
  call,
  checkpoint,
  compensator,
  continueAs,
  duration,
  each,
  elicit,
  elicitUrl,
  ignore,
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
  step,
  toUuid,
  uuid,
  waitFor,
  withJsonSchema,
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
  Approval,
  ClientStep,
  Compensator,
  ContentBlock,
  Duration,
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
  Answerer,
  GuardedSaga,
  Saga,
  SagaOptions,
  SampleAnswer,
  SampleParams,
  SampleResult,
  SampleTool,
  SamplingMessage,
  Schema,
  StepContext,
  StepOptions,
  Steps,
  ToolResult,
  ToolResultBlock,
  ToolUseBlock,
  UndoneStep,
} from '@mcp-saga/core';
export { generateKey, SealError, TokenRefused, TokenTooLarge } from '@mcp-saga/seal';
export type { KeysOption } from '@mcp-saga/seal';
export { createSagaHost, type SagaHost } from './saga-host.ts';
export type { AttachOptions } from './mcp/attach.ts';
export type { McpServerLike } from './mcp/sdk.ts';
export { NeedsMissing, SagaHostError, type SagaHostErrorCode } from './wire/errors.ts';
export type { Principal, PrincipalOption, SagaCaller } from './model/caller.ts';
export type { KeySource, RateLimitFacts, SagaHostOptions, Sampling } from './model/host-options.ts';
export type { HostLimits } from './model/host-limits.ts';
export type { HostHooks, Rejection, SettledSagaFacts, TurnFacts } from './model/hooks.ts';
export { memoryQueue } from './queue/memory-queue.ts';
export type { QueueMessage, SagaQueue } from './model/queue-types.ts';
export { memoryStore } from './store/memory-store.ts';
export { standardWebhook } from './outside/standard-webhook.ts';
export type { SagaStore } from './model/saga-store.ts';
export type { SagaTelemetry, TraceContext } from './model/telemetry.ts';
export type { StepAnswer } from './wire/step-answers.ts';
export type { HostRequest } from './model/request-types.ts';
export type { SagaInspection } from './requests/host.ts';
export type { CompletedTurn, FailedTurn, SagaTurn, SuspendedTurn } from './model/turn.ts';
export { publicMessageOf } from './wire/errors.ts';
