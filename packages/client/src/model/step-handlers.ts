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

/**
 * Fulfills the steps of a saga. What one throws goes to the server as the error of that step, by `code` (a whole
 * number; default -32603), `message` and `data`. All steps of a turn are asked at the same time. `step.reason` says
 * why the answer before was refused.
 */
export interface StepHandlers {
  /** Asks the user: shows a form, or with `params.mode` `'url'` offers to open a page. */
  readonly elicitation?:
    | ((
        params: ElicitationParams,
        step: ElicitationStep,
        context: HandlerContext,
      ) => ElicitationResult | Promise<ElicitationResult>)
    | undefined;
  /** Asks the model. */
  readonly sampling?:
    | ((
        params: SamplingParams,
        step: SamplingStep,
        context: HandlerContext,
      ) => SamplingResult | Promise<SamplingResult>)
    | undefined;
  /** Tells the roots. */
  readonly roots?:
    | ((
        params: RootsParams | undefined,
        step: RootsStep,
        context: HandlerContext,
      ) => RootsResult | Promise<RootsResult>)
    | undefined;
}
