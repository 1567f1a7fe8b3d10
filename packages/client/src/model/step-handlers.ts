import type {
  ElicitationParams,
  ElicitationResult,
  RootsParams,
  RootsResult,
  SamplingParams,
  SamplingResult,
} from './client-steps.ts';
import type { ElicitationStep, RootsStep, SamplingStep } from './wire.ts';

/** What a handler gets besides the step. */
export interface HandlerContext {
  /** Aborts when the saga is left: close the dialog. */
  readonly signal: AbortSignal;
}

type Handler<Params, Step, Result> = (
  params: Params,
  step: Step,
  context: HandlerContext,
) => Result | Promise<Result>;

/**
 * Fulfills the steps of a saga. An error that a handler throws goes to the server as the error of that step, with its `code` (a
 * whole number; default -32603), `message`, and `data`. All steps of a turn are asked at the same time. `step.reason` says why
 * the answer before was refused.
 */
export interface StepHandlers {
  /** Asks the user: shows a form, or with `params.mode` `'url'` offers to open a page. */
  readonly elicitation?: Handler<ElicitationParams, ElicitationStep, ElicitationResult> | undefined;
  /** Asks the model. */
  readonly sampling?: Handler<SamplingParams, SamplingStep, SamplingResult> | undefined;
  /** Lists the roots. */
  readonly roots?: Handler<RootsParams | undefined, RootsStep, RootsResult> | undefined;
}
