import { randomUUID } from 'node:crypto';
import { textOf, type ModelApi, type Reply } from './conversation.ts';

interface ChatBody {
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly {
    readonly function?: { readonly name: string; readonly parameters?: object };
  }[];
  readonly stream?: boolean;
}

/** The Chat Completions API of OpenAI. */
export const openaiChat: ModelApi = {
  matches: (path) => path.includes('/chat/completions'),
  read: (body) => {
    const { messages = [], tools = [], stream = false } = body as ChatBody;
    return {
      tools: tools.flatMap(({ function: tool }) =>
        tool === undefined ? [] : [{ name: tool.name, parameters: tool.parameters ?? {} }],
      ),
      results: messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
      read: JSON.stringify(messages),
      isStreamed: stream,
    };
  },
  whole: (reply, model) => ({
    ...envelope('chat.completion', model),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...messageOf(reply) },
        finish_reason: finishOf(reply),
      },
    ],
    usage,
  }),
  events: (reply, model) => {
    const chunk = envelope('chat.completion.chunk', model);
    const delta = { role: 'assistant', ...messageOf(reply) };
    return [
      { data: { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] } },
      { data: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finishOf(reply) }] } },
      { data: { ...chunk, choices: [], usage } },
      { data: '[DONE]' },
    ];
  },
};

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

function envelope(object: string, model: string): object {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model };
}

function messageOf(reply: Reply): object {
  if (reply.kind === 'text') return { content: reply.text };
  const call = { name: reply.tool.name, arguments: JSON.stringify(reply.args) };
  return {
    content: null,
    tool_calls: [{ index: 0, id: `call_${randomUUID()}`, type: 'function', function: call }],
  };
}

function finishOf({ kind }: Reply): string {
  return kind === 'text' ? 'stop' : 'tool_calls';
}
