import type {
  Approval,
  ApprovalOptions,
  Delivery,
  InferOutput,
  Json,
  NoFields,
  Schema,
} from '@mcp-saga/core';
import { approvalSteps } from '@mcp-saga/core/program';
import { optionsFor, outsideLogic, type OfInputs, type OutsideLogic } from './outside-logic.ts';

/** Options of {@link approval} that may be functions of the invoke's `input`. */
type OfInputNames =
  | 'message'
  | 'of'
  | 'denials'
  | 'by'
  | 'to'
  | 'remindEvery'
  | 'timeout'
  | 'escalate';

/**
 * Options of {@link approval}, as of `approval` in a saga. Values and texts may be functions of the
 * invoke's `input`.
 */
export interface ApprovalLogicOptions<S extends Schema, I, T = Json>
  extends
    Pick<ApprovalOptions<S, T>, 'schema' | 'allowCaller' | 'link'>,
    OfInputs<Pick<ApprovalOptions<S, T>, OfInputNames>, I> {
  /**
   * Sends a link. A server step with three attempts: once for each recipient, reminder, and
   * escalation.
   */
  readonly deliver: (delivery: Delivery<T> & { readonly input: I }) => unknown;
}

/**
 * Asks other people than the user of the client to approve or deny, as actor logic. `onDone`
 * receives the decision, also a denial or the end of `timeout`. `onError` receives `StepError` if
 * a delivery fails three times, and `ClientCannot` if the client cannot wait.
 *
 * If the machine leaves the state, the links are withdrawn: later answers are refused.
 * @throws AuthoringError if an option is invalid
 * @example
 * ```ts
 * const manager = approval({
 *   message: ({ input }: { input: { cents: number } }) => `Refund ${input.cents} cents?`,
 *   by: { role: 'manager' },
 *   deliver: ({ url, idempotencyKey }) => mail.send(`Please decide: ${url}`, { idempotencyKey }),
 *   timeout: '2d',
 * });
 * ```
 */
export function approval<S extends Schema = NoFields, I = undefined, const T = Json>(
  options: ApprovalLogicOptions<S, I, T>,
): OutsideLogic<Approval<InferOutput<S>>, I> {
  // Rejects an invalid option at once, with the error of core. Recipients that depend on the input
  // may be enough for any `of`.
  const placeholders = {
    message: '',
    timeout: 1,
    to: Array.from({ length: 256 }, (_, index) => index),
    escalate: [{ after: 1, to: Array.from({ length: 256 }, (_, index) => -index) }],
  };
  approvalSteps('approval', optionsFor<ApprovalOptions<Schema>>(options, undefined, placeholders));
  return outsideLogic({
    kind: 'approval',
    toSteps: (id, input) =>
      approvalSteps<S, T, Json>(id, {
        ...optionsFor<ApprovalOptions<S, T>>(options, { input }),
        deliver: (delivery) => options.deliver({ ...delivery, input }),
      }),
  });
}
