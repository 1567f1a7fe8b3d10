import { randomUUID } from 'node:crypto';
import { textOf, type ModelApi, type ModelTool, type Reply } from './conversation.ts';

interface ResponsesBody {
  readonly input?: string | readonly { readonly type?: string; readonly output?: unknown }[];
  readonly tools?: readonly ListedTool[];
  readonly stream?: boolean;
}

interface ListedTool {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: object;
  readonly tools?: readonly ListedTool[];
}

/** The Responses API of OpenAI. */
export const openaiResponses: ModelApi = {
  matches: (path) => /\/responses(\?|$)/.test(path),
  read: (body) => {
    const { input = [], tools = [], stream = false } = body as ResponsesBody;
    const items = typeof input === 'string' ? [] : input;
    return {
      tools: tools.flatMap((tool) => toTools(tool)),
      results: items
        .filter(({ type }) => type === 'function_call_output' || type === 'mcp_tool_call_output')
        .map(({ output }) => textOf(output)),
      read: JSON.stringify(items),
      isStreamed: stream,
    };
  },
  whole: (reply, model) => responseOf(itemOf(reply), model),
  events: (reply, model) => {
    const item = itemOf(reply);
    const response = responseOf(item, model);
    const created = { ...response, status: 'in_progress', output: [] };
    const place = { output_index: 0, item_id: item.id };
    return [
      { type: 'response.created', response: created },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress' },
      },
      ...(reply.kind === 'text'
        ? [
            { type: 'response.output_text.delta', ...place, content_index: 0, delta: reply.text },
            { type: 'response.output_text.done', ...place, content_index: 0, text: reply.text },
          ]
        : [
            {
              type: 'response.function_call_arguments.done',
              ...place,
              arguments: JSON.stringify(reply.args),
            },
          ]),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ].map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } }));
  },
};

function toTools({
  type,
  name = '',
  parameters = {},
  tools = [],
}: ListedTool): readonly ModelTool[] {
  if (type === 'function') return [{ name, parameters }];
  if (type !== 'namespace') return [];
  return tools.flatMap((tool) => toTools(tool).map((inner) => ({ ...inner, namespace: name })));
}

function itemOf(reply: Reply): { readonly id: string; readonly [key: string]: unknown } {
  if (reply.kind === 'text') {
    const content = [{ type: 'output_text', text: reply.text, annotations: [] }];
    return {
      id: `msg_${randomUUID()}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content,
    };
  }
  const { name, namespace } = reply.tool;
  return {
    id: `fc_${randomUUID()}`,
    type: 'function_call',
    status: 'completed',
    call_id: `call_${randomUUID()}`,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(reply.args),
  };
}

function responseOf(item: object, model: string): object {
  return {
    id: `resp_${randomUUID()}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'completed',
    model,
    output: [item],
    usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
  };
}
