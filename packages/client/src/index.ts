/**
 * Calls saga tools from an MCP client: fulfills the steps of each turn, stores a saga as JSON, and
 * resumes the saga later.
 * @module
 */
export { callSaga, resumeSaga, type CallSagaOptions } from './saga/call-saga.ts';
export { cancelSaga, type CancelOptions } from './saga/cancel-saga.ts';
export type {
  ElicitationParams,
  ElicitationResult,
  FormElicitation,
  JsonValue,
  RootsParams,
  RootsResult,
  SamplingContent,
  ModelMessage,
  SamplingParams,
  SamplingResult,
  SamplingTool,
  ToolResultContent,
  ToolUseContent,
  UrlElicitation,
} from './model/saga-step-types.ts';
export type { Clock } from './runtime/clock.ts';
export type {
  Annotations,
  AudioBlock,
  BooleanField,
  ChoiceField,
  ChoicesField,
  ContentBlock,
  EmbeddedResource,
  EnumField,
  EnumsField,
  FormField,
  ImageBlock,
  NumberField,
  ResourceLink,
  TextBlock,
  TextField,
} from '@mcp-saga/core/shared';
export type { CallToolResult } from './model/tool-result.ts';
export {
  KeptSagaInvalid,
  SagaCallAborted,
  SagaClientError,
  type SagaClientErrorCode,
  type SagaClientErrorOptions,
  SagaOnTurnFailed,
  SagaStepUnhandled,
  SagaProtocolError,
  SagaGone,
  SagaRequestFailed,
  SagaRoundsExceeded,
  SagasNotSupported,
} from './model/errors.ts';
export type { McpClient, RequestOptions } from './model/mcp-client-types.ts';
export { type SagaCall, startSaga } from './saga/start-saga.ts';
export type { HandlerContext, StepHandlers } from './model/step-handlers.ts';
export { SuspendedSaga } from './saga/suspended-saga.ts';
export type {
  KeptSaga,
  ResumeOptions,
  ClientTurn,
  TurnOptions,
} from './model/client-turn-types.ts';
export {
  type ElicitationStep,
  type RootsStep,
  SAGA_EXTENSION,
  type SagaMethod,
  type SagaStep,
  type SamplingStep,
  type CompletedStep,
  type JsonRpcError,
  type StepResult,
} from './model/wire-types.ts';
