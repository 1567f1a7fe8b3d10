/** Write multi-step MCP tools as generators, and serve them without keeping state. */
export * from '@mcp-saga/core';
export { generateKey, SealError, TokenRefused, TokenTooLarge } from '@mcp-saga/seal';
export type { Claims, KeyInput, KeysOption, OctJwk } from '@mcp-saga/seal';
export { createSagaHost, type SagaHost } from './saga-host.ts';
export type { AttachOptions } from './mcp/attach.ts';
export type { McpServerLike } from './mcp/sdk.ts';
export { NeedsMissing, NotEnded, SagaHostError, type SagaHostErrorCode } from './host/errors.ts';
export type { Caller, Principal, PrincipalOption } from './model/caller.ts';
export type { DialectTraits } from './host/dialect-traits.ts';
export type {
  AdmissionFacts,
  HandleOptions,
  HostLimits,
  InstantRefusalOptions,
  Ladder,
  ResumableRequestOptions,
  SagaHostOptions,
  Sampling,
  TaskOptions,
} from './model/host-options.ts';
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
export type { Fence, GuardClaim, GuardOwner, GuardVerdict, SagaGuard } from './guard/guard.ts';
export { memoryTaskStore } from './dialects/tasks/memory-task-store.ts';
export type { StoredTask, TaskStore } from './dialects/tasks/store.ts';
export type {
  SagaTelemetry,
  StepSpan,
  TraceContext,
  TracedEnd,
  TracedEvent,
  TracedStep,
  TracedTurn,
  TurnSpan,
} from './host/telemetry.ts';
export type { StepAnswer } from './host/answers.ts';
export type { CancelRequest, ResumeRequest, StartRequest, StatusRequest } from './model/requests.ts';
export type { SagaHostCore, SagaInspection } from './host/host.ts';
export type { SagaStatus } from './host/status.ts';
export type { CompletedTurn, FailedTurn, SagaTurn, SuspendedTurn } from './host/turn.ts';
export { publicMessageOf } from './host/public-message.ts';
export type { SuspendedResult, SuspensionReport, WireStep } from './dialects/saga-methods.ts';
