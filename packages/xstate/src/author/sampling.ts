import type { SampleParams, SampleResult } from '@mcp-saga/core';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** What `sampling` asks: the parameters of MCP's `sampling/createMessage`, and what makes the output of the answer. */
export interface SamplingOptions<O, I> extends Omit<SampleParams, 'messages' | 'systemPrompt'> {
  /** The conversation; a function of the invoke's `input` where it takes one. */
  readonly messages: OfInput<SampleParams['messages'], I>;
  readonly systemPrompt?: OfInput<string, I>;
  /** Makes the output of the model's answer. What it throws is a `StepError` with the reason `invalid`. */
  readonly parse?: (result: SampleResult) => O;
}

/**
 * Asks the client's model, as actor logic. `onDone` gets the `CreateMessageResult`, or what `parse` makes of it; `onError`
 * gets `ClientCannot` where nobody can sample, and `StepError` when the client answers with an error, or `parse` throws.
 */
export function sampling<O = SampleResult, I = undefined>(
  options: SamplingOptions<O, I>,
): ClientStepLogic<O, I> {
  const { messages, systemPrompt, parse, ...rest } = options;
  if (!Number.isInteger(rest.maxTokens)) {
    throw new TypeError('sampling(…) needs maxTokens, a whole number.');
  }
  return clientStepLogic({
    kind: 'sample',
    toSpec: (id, input) => ({
      kind: 'sample',
      id,
      params: {
        messages: ofInput(messages, input),
        ...rest,
        ...(systemPrompt === undefined ? {} : { systemPrompt: ofInput(systemPrompt, input) }),
      },
      ttl: undefined,
    }),
    ...(parse === undefined ? {} : { parse }),
  });
}
