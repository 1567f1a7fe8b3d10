/**
 * Drive a saga tool from an MCP client: fulfil what it asks turn by turn, keep it as JSON, resume it another day.
 *
 * @module
 */
export { callSaga, resumeSaga, type SagaOptions } from './call-saga.ts';
export { cancelSaga, type CancelOptions } from './cancel-saga.ts';
export type {
  ElicitationParams,
  ElicitationResult,
  FormElicitation,
  JsonValue,
  RootsParams,
  RootsResult,
  SamplingContent,
  SamplingMessage,
  SamplingParams,
  SamplingResult,
  SamplingTool,
  ToolResultContent,
  ToolUseContent,
  UrlElicitation,
} from './client-steps.ts';
export type { Clock } from './clock.ts';
export type {
  Annotations,
  AudioContent,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from './content.ts';
export {
  KeptSagaInvalid,
  SagaAborted,
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
} from './errors.ts';
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  EnumField,
  EnumsField,
  FormField,
  NumberField,
  TextField,
} from './form-field.ts';
export type { McpClient, RequestOptions } from './mcp-client.ts';
export { type SagaCall, startSaga } from './start-saga.ts';
export type { StepContext, StepHandlers } from './step-handlers.ts';
export { SuspendedSaga } from './suspended-saga.ts';
export type { KeptSaga, ResumeOptions, SagaTurn, TurnOptions } from './saga-turn.ts';
export {
  type ElicitationStep,
  type RootsStep,
  SAGA_EXTENSION,
  type SagaMethod,
  type SagaStep,
  type SamplingStep,
  type StepAnswer,
  type StepError,
  type StepResult,
} from './wire.ts';
