import type {
  ElicitationParams,
  ElicitationResult,
  RootsParams,
  RootsResult,
  SamplingParams,
  SamplingResult,
} from './client-steps.ts';
import type { ToolContent } from './content.ts';

/** The key in `capabilities.extensions` under which a server offers saga methods. */
export const SAGA_EXTENSION = 'io.github.mcp-saga/saga';

/** The methods of the extension. */
export type SagaMethod = 'tools/callSaga' | 'tools/resumeSaga' | 'tools/cancelSaga';

interface AskedStep<Type extends string> {
  readonly type: Type;
  /** Names the step in the answer to it; chosen by the author of the saga. */
  readonly stepId: string;
  /** The step is asked again: why the answer before this one was refused. */
  readonly reason?: string;
}

/** The user is asked. */
export interface ElicitationStep extends AskedStep<'elicitation'> {
  readonly params: ElicitationParams;
}

/** The client's model is asked. */
export interface SamplingStep extends AskedStep<'sampling'> {
  readonly params: SamplingParams;
}

/** The client's roots are asked. */
export interface RootsStep extends AskedStep<'roots'> {
  readonly params?: RootsParams;
}

/**
 * Something the server waits for. A newer server may ask a `type` that is not in this list: keep a `default` branch.
 */
export type SagaStep = ElicitationStep | SamplingStep | RootsStep;

/** Why a step could not be fulfilled: thrown into the saga at that step, by the codes of JSON-RPC. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What fulfilled a step. */
export type StepResult = ElicitationResult | SamplingResult | RootsResult;

/** The answer to one step: its result, or the error in its place. */
export type CompletedStep =
  | { readonly stepId: string; readonly result: StepResult; readonly error?: undefined }
  | { readonly stepId: string; readonly error: JsonRpcError; readonly result?: undefined };

/** A server's answer to `tools/callSaga` or `tools/resumeSaga` that is not the end yet. */
export interface SuspendedAnswer {
  readonly state: 'suspended';
  readonly sagaToken: string;
  readonly steps: readonly SagaStep[];
  /** With nothing to do: how long to wait before resuming, in milliseconds. */
  readonly retryAfterMs?: number;
  /** For the user meanwhile. */
  readonly content?: readonly ToolContent[];
}
