import {
  elicit as elicitOfSagas,
  type ElicitOptions,
  type ElicitOutcome,
  type InferOutput,
  type Schema,
} from '@mcp-saga/core';
import { AuthoringError, assertKnownOptions, present } from '@mcp-saga/core/program';
import type { NamesOf } from '@mcp-saga/core/shared';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** Options of {@link elicit}. */
export interface ElicitLogicOptions<S extends Schema, I> extends Pick<
  ElicitOptions<S>,
  'schema' | 'answeredBy' | 'fallback'
> {
  /** Text above the form: a string, or a function of the invoke's `input`. */
  readonly message: OfInput<string, I>;
}

/** Type of {@link elicit}. */
export interface ElicitLogic {
  /**
   * Asks the user with a form. `onDone` receives the accepted content, parsed by the schema. An
   * invalid answer is asked again. `onError` receives `ElicitationRefused` if the user declines or
   * dismisses the form, `StepError` if the client answers with an error, and `ClientCannot` if the
   * client does not support elicitation and there is no fallback: see `stepError`.
   * @throws AuthoringError if MCP forms do not support the schema
   */
  <S extends Schema, I = undefined>(
    options: ElicitLogicOptions<S, I>,
  ): ClientStepLogic<InferOutput<S>, I>;
  /**
   * Same as `elicit`, except that a refusal is an output: `{action: 'decline'}` or
   * `{action: 'cancel'}`.
   */
  outcome<S extends Schema, I = undefined>(
    options: ElicitLogicOptions<S, I>,
  ): ClientStepLogic<ElicitOutcome<InferOutput<S>>, I>;
}

const names: NamesOf<ElicitLogicOptions<Schema, unknown>> = {
  message: true,
  schema: true,
  answeredBy: true,
  fallback: true,
};

function ask<S extends Schema, O, I>(
  options: ElicitLogicOptions<S, I>,
  asOutcome: boolean,
): ClientStepLogic<O, I> {
  assertKnownOptions('elicit', undefined, options, names);
  const { message, answeredBy, fallback } = options;
  const schema = options.schema as S;
  // Rejects an invalid schema at once, with the error of core.
  elicitOfSagas('elicit', { message: '', schema, ...present({ answeredBy }) });
  return clientStepLogic<O, I>({
    kind: 'elicit',
    toSpec: (id, input) => {
      const text = ofInput(message, input);
      if (typeof text !== 'string')
        throw new AuthoringError(`Step '${id}' needs a string as message.`, {
          anchor: 'questions',
        });
      return {
        kind: 'elicit',
        id,
        message: text,
        schema,
        asOutcome,
        ttl: undefined,
        answeredBy,
        fallback,
      };
    },
  });
}

/**
 * Asks the user with a form, as actor logic: MCP's `elicitation/create`.
 * @example
 * ```ts
 * const confirm = elicit({
 *   message: 'Deploy now?',
 *   schema: z.object({ sure: z.boolean() }),
 * });
 * ```
 */
export const elicit: ElicitLogic = /* @__PURE__ */ Object.assign(
  <S extends Schema, I = undefined>(
    options: ElicitLogicOptions<S, I>,
  ): ClientStepLogic<InferOutput<S>, I> => ask(options, false),
  {
    outcome: <S extends Schema, I = undefined>(
      options: ElicitLogicOptions<S, I>,
    ): ClientStepLogic<ElicitOutcome<InferOutput<S>>, I> => ask(options, true),
  },
);
