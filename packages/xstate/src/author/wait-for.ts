import type { InferOutput, Registration, Schema, WaitForOptions } from '@mcp-saga/core';
import { waitForSteps } from '@mcp-saga/core/program';
import { optionsFor, outsideLogic, type OfInputs, type OutsideLogic } from './outside-logic.ts';

/**
 * Options of {@link waitFor}, as of `waitFor` in a saga. Either `verify` or `link` says which events
 * are authentic.
 */
export type WaitForLogicOptions<S extends Schema, I> = WaitLogicOptions<S, I> & Authenticity;

interface WaitLogicOptions<S extends Schema, I>
  extends Pick<WaitForOptions<S>, 'schema'>, OfInputs<Pick<WaitForOptions<S>, 'timeout'>, I> {
  /** Registers the URL at the other system. A server step with three attempts. */
  readonly register: (registration: Registration & { readonly input: I }) => unknown;
}

// `Pick` of each alternative: of the union, it would make both optional.
type Authenticity<O = WaitForOptions<Schema>> = O extends unknown
  ? Pick<O, keyof O & ('verify' | 'link')>
  : never;

/**
 * Waits for an event of another system, as actor logic. `onDone` receives the first event that fits
 * the schema. `onError` receives `StepTimedOut` if no event arrives in time, `StepError` if the
 * registration fails three times, and `ClientCannot` if the client cannot wait.
 *
 * If the machine leaves the state, later events are refused.
 * @throws AuthoringError if an option is invalid
 * @example
 * ```ts
 * const payment = waitFor({
 *   schema: z.object({ status: z.literal('paid'), reference: z.string() }),
 *   register: ({ url, idempotencyKey }) => bank.checkout(url, { idempotencyKey }),
 *   verify: 'bank',
 *   timeout: '1d',
 * });
 * ```
 */
export function waitFor<S extends Schema, I = undefined>(
  options: WaitForLogicOptions<S, I>,
): OutsideLogic<InferOutput<S>, I> {
  // Rejects an invalid option at once, with the error of core.
  waitForSteps('waitFor', optionsFor<WaitForOptions<Schema>>(options, undefined, { timeout: 1 }));
  return outsideLogic({
    kind: 'waitFor',
    toSteps: (id, input) =>
      waitForSteps(id, {
        ...optionsFor<WaitForOptions<S>>(options, { input }),
        register: (registration) => options.register({ ...registration, input }),
      }),
  });
}
