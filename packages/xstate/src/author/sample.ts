import {
  sample as sampleOfSagas,
  type Answerer,
  type SampleParams,
  type SampleResult,
} from '@mcp-saga/core';
import { present, AuthoringError, assertKnownOptions } from '@mcp-saga/core/program';
import type { NamesOf } from '@mcp-saga/core/shared';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** Options of {@link sample}: parameters of MCP's `sampling/createMessage`, and `parse`. */
export interface SampleLogicOptions<O, I> extends Omit<SampleParams, 'messages' | 'systemPrompt'> {
  /** The conversation: a value, or a function of the invoke's `input`. */
  readonly messages: OfInput<SampleParams['messages'], I>;
  readonly systemPrompt?: OfInput<string, I>;
  /**
   * Converts the model's answer into the output. If it throws, the step fails with the reason
   * `invalid`.
   */
  readonly parse?: (result: SampleResult) => O;
  /** Who may answer, in this order: as for `sample` of sagas. */
  readonly answeredBy?: readonly Answerer[];
}

const names: NamesOf<SampleLogicOptions<unknown, unknown>> = {
  messages: true,
  maxTokens: true,
  systemPrompt: true,
  temperature: true,
  stopSequences: true,
  modelPreferences: true,
  metadata: true,
  tools: true,
  toolChoice: true,
  parse: true,
  answeredBy: true,
};

/**
 * Asks the client's model, as actor logic. `onDone` receives the `CreateMessageResult`, or the
 * result of `parse`. `onError` receives `ClientCannot` if the client does not support sampling, and
 * `StepError` if the client answers with an error or `parse` throws.
 * @throws AuthoringError if `maxTokens` is not an integer
 * @example
 * ```ts
 * const translate = sample({
 *   messages: ({ input }: { input: string }) => [{ role: 'user', content: { type: 'text', text: input } }],
 *   maxTokens: 200,
 * });
 * ```
 */
export function sample<O = SampleResult, I = undefined>(
  options: SampleLogicOptions<O, I>,
): ClientStepLogic<O, I> {
  assertKnownOptions('sample', undefined, options, names);
  const { messages, systemPrompt, parse, answeredBy, ...rest } = options;
  if (!Number.isInteger(rest.maxTokens)) {
    throw new AuthoringError('sample(…) needs an integer as maxTokens.', { anchor: 'questions' });
  }
  // Rejects a list that no question takes, with the error of core.
  sampleOfSagas('sample', { messages: [], maxTokens: 1 }, present({ answeredBy }));
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
      answeredBy,
    }),
    ...present({ parse }),
  });
}
