import {
  elicit,
  type ElicitOptions,
  type ElicitOutcome,
  type InferOutput,
  type Schema,
} from '@mcp-saga/core';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** What `elicitation` asks. */
export interface ElicitationOptions<S extends Schema, I> extends Pick<
  ElicitOptions<S>,
  'schema' | 'accept' | 'fallback'
> {
  /** What the user reads above the form; a function of the invoke's `input` where it takes one. */
  readonly message: OfInput<string, I>;
}

/** The type of {@link elicitation}: a function, and beside it `elicitation.outcome`. */
export interface Elicitation {
  /**
   * Asks the user with a form. `onDone` gets the accepted content, typed and parsed by the schema; `onError` gets
   * `ElicitationRefused` when the user declines or dismisses it, `ClientCannot` where the client cannot be asked and there
   * is no fallback, and `StepError` when the client answers with an error: see `stepError`. An answer that does not fit is
   * asked again.
   */
  <S extends Schema, I = undefined>(options: ElicitationOptions<S, I>): ClientStepLogic<InferOutput<S>, I>;
  /** The same, but a refusal comes as an output: `{action: 'decline'}` or `{action: 'cancel'}`. */
  outcome<S extends Schema, I = undefined>(
    options: ElicitationOptions<S, I>,
  ): ClientStepLogic<ElicitOutcome<InferOutput<S>>, I>;
}

function ask<S extends Schema, O, I>(
  options: ElicitationOptions<S, I>,
  asOutcome: boolean,
): ClientStepLogic<O, I> {
  const { message, accept, fallback } = options;
  const schema = options.schema as S;
  if (schema?.['~standard'] === undefined) {
    throw new TypeError('elicitation(…) needs a schema: z.object({…}), or another Standard Schema.');
  }
  // What cannot be asked is refused here, in the words of `elicit`.
  elicit('elicitation', { message: '', schema });
  return clientStepLogic<O, I>({
    kind: 'elicit',
    toSpec: (id, input) => {
      const text = ofInput(message, input);
      if (typeof text !== 'string') throw new TypeError(`The elicitation '${id}' needs a message, a string.`);
      return { kind: 'elicit', id, message: text, schema, asOutcome, ttl: undefined, accept, fallback };
    },
  });
}

/** Asks the user with a form: MCP's `elicitation/create`, as actor logic. */
export const elicitation: Elicitation = /* @__PURE__ */ Object.assign(
  <S extends Schema, I = undefined>(options: ElicitationOptions<S, I>): ClientStepLogic<InferOutput<S>, I> =>
    ask(options, false),
  {
    outcome: <S extends Schema, I = undefined>(
      options: ElicitationOptions<S, I>,
    ): ClientStepLogic<ElicitOutcome<InferOutput<S>>, I> => ask(options, true),
  },
);
