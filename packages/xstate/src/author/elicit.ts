import {
  elicit as elicitOfSagas,
  type ElicitOptions,
  type ElicitOutcome,
  type InferOutput,
  type Schema,
} from '@mcp-saga/core';
import { AuthoringError, assertKnownOptions, optionNames } from '@mcp-saga/core/program';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** Options of {@link elicit}. */
export interface ElicitLogicOptions<S extends Schema, I> extends Pick<
  ElicitOptions<S>,
  'schema' | 'accept' | 'fallback'
> {
  /** Text that the user reads above the form: a string, or a function of the invoke's `input`. */
  readonly message: OfInput<string, I>;
}

/** The type of {@link elicit}: a function with a second one, `elicit.outcome`. */
export interface ElicitLogic {
  /**
   * Asks the user with a form. `onDone` receives the accepted content, parsed by the schema. `onError` receives
   * `ElicitationRefused` if the user declines or dismisses the form, `ClientCannot` if the client cannot be asked and there is
   * no fallback, and `StepError` if the client answers with an error: see `stepError`. An answer that does not fit is asked
   * again.
   *
   * @throws AuthoringError if MCP's forms cannot show the schema
   * @example
   * setup({ actors: { confirm: elicit({ message: 'Deploy now?', schema: z.object({ sure: z.boolean() }) }) } });
   */
  <S extends Schema, I = undefined>(options: ElicitLogicOptions<S, I>): ClientStepLogic<InferOutput<S>, I>;
  /** As `elicit`, with a refusal as an output: `{action: 'decline'}` or `{action: 'cancel'}`. */
  outcome<S extends Schema, I = undefined>(
    options: ElicitLogicOptions<S, I>,
  ): ClientStepLogic<ElicitOutcome<InferOutput<S>>, I>;
}

const names = /* @__PURE__ */ optionNames<ElicitLogicOptions<Schema, unknown>>({
  message: true,
  schema: true,
  accept: true,
  fallback: true,
});

function ask<S extends Schema, O, I>(
  options: ElicitLogicOptions<S, I>,
  asOutcome: boolean,
): ClientStepLogic<O, I> {
  assertKnownOptions('elicit', undefined, options, names);
  const { message, accept, fallback } = options;
  const schema = options.schema as S;
  // What cannot be asked is refused here, in the words of `elicit`.
  elicitOfSagas('elicit', { message: '', schema });
  return clientStepLogic<O, I>({
    kind: 'elicit',
    toSpec: (id, input) => {
      const text = ofInput(message, input);
      if (typeof text !== 'string')
        throw new AuthoringError(`The elicitation '${id}' needs a message, a string.`);
      return { kind: 'elicit', id, message: text, schema, asOutcome, ttl: undefined, accept, fallback };
    },
  });
}

/** Asks the user with a form: MCP's `elicitation/create`, as actor logic. */
export const elicit: ElicitLogic = /* @__PURE__ */ Object.assign(
  <S extends Schema, I = undefined>(options: ElicitLogicOptions<S, I>): ClientStepLogic<InferOutput<S>, I> =>
    ask(options, false),
  {
    outcome: <S extends Schema, I = undefined>(
      options: ElicitLogicOptions<S, I>,
    ): ClientStepLogic<ElicitOutcome<InferOutput<S>>, I> => ask(options, true),
  },
);
