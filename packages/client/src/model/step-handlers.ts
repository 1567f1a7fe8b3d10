import type {
  ElicitationParams,
  ElicitationResult,
  RootsParams,
  RootsResult,
  SamplingParams,
  SamplingResult,
} from './saga-step-types.ts';
import type { ElicitationStep, RootsStep, SamplingStep } from './wire-types.ts';

/** Third argument of a handler. */
export interface HandlerContext {
  /** Aborts with the call. Close the dialog then. */
  readonly signal: AbortSignal;
}

type Handler<Params, Step, Result> = (
  params: Params,
  step: Step,
  context: HandlerContext,
) => Result | Promise<Result>;

/**
 * Handlers of the steps of a saga, called for all steps of a turn at once. An error of a handler
 * goes to the server as the error of the step, with `code` (an integer; default -32603), `message`,
 * and `data`. `step.reason` is the reason for the rejection of an earlier answer.
 */
export interface StepHandlers {
  /** Asks the user: shows a form, or offers to open a page if `params.mode` is `'url'`. */
  readonly elicitation?: Handler<ElicitationParams, ElicitationStep, ElicitationResult> | undefined;
  /** Asks the model. */
  readonly sampling?: Handler<SamplingParams, SamplingStep, SamplingResult> | undefined;
  /** Lists the roots. */
  readonly roots?: Handler<RootsParams | undefined, RootsStep, RootsResult> | undefined;
}
