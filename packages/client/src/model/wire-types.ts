import type {
  ElicitationParams,
  ElicitationResult,
  RootsParams,
  RootsResult,
  SamplingParams,
  SamplingResult,
} from './saga-step-types.ts';
import type { ContentBlock } from '@mcp-saga/core/shared';

/** Key of the saga methods in `capabilities.extensions`. */
export const SAGA_EXTENSION = 'io.github.mcp-saga/saga';

/** Methods of the extension. */
export type SagaMethod = 'tools/callSaga' | 'tools/resumeSaga' | 'tools/cancelSaga';

interface AskedStep<Type extends string> {
  readonly type: Type;
  /** ID of the step, chosen by the author of the saga. The answer refers to it. */
  readonly stepId: string;
  /** Reason for the rejection of an earlier answer, if the step is repeated. */
  readonly reason?: string;
}

/** Question to the user. */
export interface ElicitationStep extends AskedStep<'elicitation'> {
  readonly params: ElicitationParams;
}

/** Question to the client's model. */
export interface SamplingStep extends AskedStep<'sampling'> {
  readonly params: SamplingParams;
}

/** Question for the client's roots. */
export interface RootsStep extends AskedStep<'roots'> {
  readonly params?: RootsParams;
}

/** Step of a turn. Newer servers may send other types: write a `default` branch. */
export type SagaStep = ElicitationStep | SamplingStep | RootsStep;

/** JSON-RPC error of a step, thrown in the saga at the step. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Result of a step. */
export type StepResult = ElicitationResult | SamplingResult | RootsResult;

/** Answer to a step: result or error. */
export type CompletedStep =
  | { readonly stepId: string; readonly result: StepResult; readonly error?: undefined }
  | { readonly stepId: string; readonly error: JsonRpcError; readonly result?: undefined };

/** Answer to `tools/callSaga` or `tools/resumeSaga` of a saga that continues. */
export interface SuspendedAnswer {
  readonly state: 'suspended';
  readonly sagaToken: string;
  readonly steps: readonly SagaStep[];
  /** Without steps: time to wait before the next request, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Content for the user meanwhile. */
  readonly content?: readonly ContentBlock[];
}
