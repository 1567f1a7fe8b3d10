import {
  createSagaHost,
  elicit,
  saga,
  sample,
  type SagaHost,
  type Sampling,
} from '@mcp-saga/server';
import { z } from 'zod';

// #region sampling
/** Asks a model by the chat completions API, which most model servers offer. */
export function chatCompletions(url: string, model: string, key: string): Sampling {
  return async ({ messages, maxTokens, systemPrompt }, { signal }) => {
    const asked = messages.map(({ role, content }) => {
      if (content.type !== 'text') throw new Error('This model reads text only.');
      return { role, content: content.text };
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

// #region host
export const hostOf = (keys: string, sampling: Sampling): SagaHost =>
  createSagaHost({
    sagas: [triage],
    keys,
    audience: 'helpdesk',
    answers: { sampling, order: { sampling: ['client', 'host'] } },
  });
// #endregion host
