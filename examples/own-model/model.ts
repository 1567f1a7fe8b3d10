import type { Sampling, SamplingMessage } from '@mcp-saga/server';

/** A model behind an HTTP endpoint for OpenAI's chat completions. */
export interface ModelEndpoint {
  /** Address of the endpoint, including the version: `https://api.example.com/v1`. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** Model of the host, for the option `answerers.sampling` of `serveSagas` or `createSagaHost`. */
export function chatCompletions({ url, key, model }: ModelEndpoint): Sampling {
  return async (
    { messages, systemPrompt, maxTokens, temperature, stopSequences, tools },
    { signal },
  ) => {
    if (tools !== undefined) throw new TypeError('This model calls no tools.');
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model,
        messages: [
          ...(systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }]),
          ...messages.map(({ role, content }) => ({ role, content: textOf(content) })),
        ],
        max_tokens: maxTokens,
        ...(temperature === undefined ? {} : { temperature }),
        ...(stopSequences === undefined ? {} : { stop: stopSequences }),
      }),
      signal,
    });
    if (!response.ok) throw new Error(`The model answered with status ${response.status}`);
    const { choices, model: used = model } = (await response.json()) as Completion;
    const [choice] = choices;
    if (choice === undefined) throw new Error('The model gave no answer');
    return {
      role: 'assistant',
      content: { type: 'text', text: choice.message.content },
      model: used,
      ...(choice.finish_reason === 'length'
        ? { stopReason: 'maxTokens' }
        : { stopReason: 'endTurn' }),
    };
  };
}

interface Completion {
  readonly model?: string;
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly finish_reason?: string;
  }[];
}

function textOf(content: SamplingMessage['content']): string {
  const texts = [content].flat().map((block) => {
    if (block.type !== 'text') throw new TypeError(`This model reads no ${block.type}.`);
    return block.text;
  });
  return texts.join('');
}
