import {
  abort,
  allSettled,
  createSagaHost,
  elicit,
  saga,
  sample,
  step,
  type SagaHost,
  type Sampling,
  type SamplingMessage,
} from '@mcp-saga/server';
import { z } from 'zod';

// #region sampling
/** Asks a model by the chat completions API, which most model servers offer. */
export function chatCompletions(url: string, model: string, key: string): Sampling {
  return async ({ messages, maxTokens, systemPrompt, tools }, { signal }) => {
    if (tools !== undefined) throw new Error('This model calls no tools.');
    const asked = messages.map(({ role, content }) => {
      const texts = [content].flat().map((block) => {
        if (block.type !== 'text') throw new Error('This model reads text only.');
        return block.text;
      });
      return { role, content: texts.join('') };
    });
    const system = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }];
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [...system, ...asked], max_tokens: maxTokens }),
      signal,
    });
    if (!response.ok) throw new Error(`The model server answered ${response.status}.`);
    const { choices } = Reply.parse(await response.json());
    return {
      role: 'assistant',
      model,
      content: { type: 'text', text: choices[0].message.content },
    };
  };
}

const Message = z.object({ message: z.object({ content: z.string() }) });
const Reply = z.object({ choices: z.tuple([Message], Message) });
// #endregion sampling

// #region tool
const Team = z.object({ team: z.enum(['billing', 'support']) });

export const triage = saga(
  { name: 'triage', version: '1', input: z.object({ ticket: z.string() }) },
  function* ({ ticket }) {
    const { content } = yield* sample('urgency', {
      messages: [{ role: 'user', content: { type: 'text', text: `Urgent or normal? ${ticket}` } }],
      maxTokens: 10,
    });
    const { team } = yield* elicit('team', {
      message: 'Which team gets the ticket?',
      schema: Team,
      fallback: { team: 'support' },
    });
    return `${content.type === 'text' ? content.text : 'normal'}, for ${team}`;
  },
);
// #endregion tool

const warehouse = {
  count: async (item: string): Promise<number> => (item === 'lamp' ? 3 : 0),
};

// #region agent
const Item = z.object({ item: z.enum(['lamp', 'desk']) });
const stock = {
  name: 'stock',
  description: 'Number of pieces in stock',
  inputSchema: {
    type: 'object',
    properties: { item: { enum: ['lamp', 'desk'] } },
    required: ['item'],
  },
} as const;

export const advise = saga(
  { name: 'advise', version: '1', input: z.object({ question: z.string() }) },
  function* ({ question }) {
    const asked: SamplingMessage = { role: 'user', content: { type: 'text', text: question } };
    const messages = [asked];
    for (let round = 0; round < 5; round += 1) {
      const request = { messages, maxTokens: 500, tools: [stock] };
      const { content, blocks = [content] } = yield* sample('advice', request);
      const calls = blocks.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) return content.type === 'text' ? content.text : '';
      const counts = yield* allSettled(
        calls.map(({ input }) =>
          step('stock', () => warehouse.count(Item.parse(input).item), { input }),
        ),
      );
      const results = calls.map(({ id }, index) => {
        const ended = counts[index];
        const isError = ended?.status !== 'fulfilled';
        const text = isError ? 'No such item.' : `${ended.value}`;
        return {
          type: 'tool_result',
          toolUseId: id,
          content: [{ type: 'text', text }],
          isError,
        } as const;
      });
      messages.push({ role: 'assistant', content: blocks }, { role: 'user', content: results });
    }
    return yield* abort('The model found no answer.');
  },
);
// #endregion agent

// #region host
export const hostOf = (keys: string, sampling: Sampling): SagaHost =>
  createSagaHost({
    sagas: [triage],
    keys,
    name: 'helpdesk',
    answerers: { sampling },
  });
// #endregion host
