import { randomUUID } from 'node:crypto';
import { textOf, type ModelApi, type Reply } from './conversation.ts';

interface MessagesBody {
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: object }[];
  readonly stream?: boolean;
}

interface Block {
  readonly type?: string;
  readonly content?: unknown;
}

const usage = { input_tokens: 10, output_tokens: 10 };

/** The Messages API of Anthropic. */
export const anthropic: ModelApi = {
  matches: (path) => /\/messages(\?|$)/.test(path),
  read: (body) => {
    const { messages = [], tools = [], stream = false } = body as MessagesBody;
    const blocks = messages.flatMap(({ content }) =>
      Array.isArray(content) ? (content as Block[]) : [],
    );
    return {
      tools: tools.map(({ name, input_schema: parameters = {} }) => ({ name, parameters })),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => textOf(content)),
      read: JSON.stringify(messages),
      isStreamed: stream,
    };
  },
  whole: (reply, model) => ({
    ...envelope(model),
    content: [blockOf(reply)],
    stop_reason: stopReasonOf(reply),
    usage,
  }),
  events: (reply, model) => {
    const block = blockOf(reply);
    const [start, delta] =
      block.type === 'text'
        ? [
            { type: 'text', text: '' },
            { type: 'text_delta', text: block.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          ];
    const message = { ...envelope(model), content: [], stop_reason: null, usage };
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
        usage: { output_tokens: 10 },
      },
      { type: 'message_stop' },
    ].map((data) => ({ event: data.type, data }));
  },
};

function envelope(model: string): object {
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: null,
  };
}

function blockOf(reply: Reply) {
  return reply.kind === 'text'
    ? ({ type: 'text', text: reply.text } as const)
    : ({
        type: 'tool_use',
        id: `toolu_${randomUUID()}`,
        name: reply.tool.name,
        input: reply.args,
      } as const);
}

function stopReasonOf({ kind }: Reply): string {
  return kind === 'text' ? 'end_turn' : 'tool_use';
}
