/** Write multi-step MCP tools as generators, and serve them without keeping state. */
export * from '@mcp-saga/core';
export { generateKey, SealError, TokenRefused, TokenTooLarge } from '@mcp-saga/seal';
export type { Claims, KeyInput, KeysOption, OctJwk } from '@mcp-saga/seal';
export { createSagaHost, type SagaHost } from './saga-host.ts';
export type { AttachOptions } from './mcp/attach.ts';
export type { McpServerLike } from './mcp/sdk.ts';
export { NeedsMissing, NotEnded, SagaHostError, type SagaHostErrorCode } from './wire/errors.ts';
export type { Principal, PrincipalOption, SagaCaller } from './model/caller.ts';
export type {
  AnswerOptions,
  AnswerOrder,
  AuthOptions,
  GuardOptions,
  HandleOptions,
  InstantRefusalOptions,
  RateLimitFacts,
  ResumableRequestOptions,
  SagaHostOptions,
  Sampling,
  TaskOptions,
  TestingOptions,
} from './model/host-options.ts';
export type { HostLimits } from './model/host-limits.ts';
export type {
  HostHooks,
  IgnoredAnswerFacts,
  InstantRefusal,
  LeftStep,
  Rejection,
  SettledSagaFacts,
  SuspendedSagaFacts,
  TurnFacts,
} from './model/hooks.ts';
export { memoryGuard } from './guard/memory-guard.ts';
export type { Fence, GuardClaim, GuardOwner, GuardVerdict, SagaGuard } from './model/guard.ts';
export { memoryTaskStore } from './dialects/tasks/memory-task-store.ts';
export type { StoredTask, TaskStore } from './model/task-store.ts';
export type {
  SagaTelemetry,
  StepSpan,
  TraceContext,
  TracedEnd,
  TracedEvent,
  TracedStep,
  TracedTurn,
  TurnSpan,
} from './model/telemetry.ts';
export type { StepAnswer } from './wire/step-answers.ts';
export type { CancelHostRequest, HostRequest } from './model/host-requests.ts';
export type { SagaInspection } from './requests/host.ts';
export type { CompletedTurn, FailedTurn, SagaTurn, SuspendedTurn } from './model/turn.ts';
export { publicMessageOf } from './wire/public-message.ts';
export type { SuspendedResult, SuspensionReport, WireStep } from './dialects/saga-methods.ts';
