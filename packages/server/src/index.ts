/** Write multi-step MCP tools as generators, and serve them without keeping state. */
export * from '@mcp-saga/core';
export { generateKey, SealError, TokenRefused, TokenTooLarge } from '@mcp-saga/seal';
export type { Claims, KeyInput, KeysOption, OctJwk } from '@mcp-saga/seal';
export { createSagaHost, type SagaHost } from './saga-host.ts';
export type { AttachOptions } from './mcp/attach.ts';
export type { McpServerLike } from './mcp/sdk.ts';
export { NeedsMissing, NotEnded, SagaHostError, type SagaHostErrorCode } from './host/errors.ts';
export type { Caller, Principal, PrincipalOption } from './host/caller.ts';
export type { Ladder } from './host/ladder.ts';
export type { DialectTraits } from './host/dialect-traits.ts';
export type { AdmissionFacts, SagaHostOptions, Sampling } from './host/host-options.ts';
export type { InstantRefusalOptions } from './host/instant-refusals.ts';
export type {
  HostHooks,
  IgnoredAnswerFacts,
  InstantRefusal,
  LeftStep,
  Rejection,
  SettledSagaFacts,
  SuspendedSagaFacts,
  TurnFacts,
} from './host/hooks.ts';
export { memoryGuard } from './guard/memory-guard.ts';
export type { Fence, GuardClaim, GuardOwner, GuardVerdict, SagaGuard } from './guard/guard.ts';
export { memoryTaskStore } from './dialects/tasks/memory-task-store.ts';
export type { StoredTask, TaskStore } from './dialects/tasks/store.ts';
export type { ResumableRequestOptions } from './dialects/resumable-options.ts';
export type { TaskOptions } from './dialects/tasks/options.ts';
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
export type { HandleOptions } from './host/handles.ts';
export type { HostLimits } from './host/limits.ts';
export type { StepAnswer } from './host/answers.ts';
export type {
  CancelRequest,
  ResumeRequest,
  SagaHostCore,
  SagaInspection,
  StartRequest,
} from './host/host.ts';
export type { SagaStatus, StatusRequest } from './host/status.ts';
export type { CompletedTurn, FailedTurn, SagaTurn, SuspendedTurn } from './host/turn.ts';
export { publicMessageOf } from './host/public-message.ts';
export type { SuspendedResult, SuspensionReport, WireStep } from './dialects/saga-methods.ts';
