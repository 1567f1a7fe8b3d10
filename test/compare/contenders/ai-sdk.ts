import { randomUUID } from 'node:crypto';
import { toText, type Contender, type Load, type Order, type Served } from '../contender.ts';
import { description, input, sdkTool } from '../sdk-tool.ts';
import type { Refunds } from '../provider.ts';

interface Call {
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
}
interface Tool {
  execute(order: Order, call: Call): Promise<string>;
}
interface Main {
  readonly tool: (options: {
    readonly description: string;
    readonly inputSchema: unknown;
    readonly execute: Tool['execute'];
  }) => Tool;
}

const packages = ['ai@7.0.173'];

/** The AI SDK has no MCP server, so the official SDK serves its tool. */
async function serve(
  load: Load,
  refund: (order: Order, call: Call) => ReturnType<Refunds['refund']>,
  toCallId: (key: string | undefined) => string,
): Promise<Served> {
  const { tool } = (await load('ai')) as Main;
  const made = tool({
    description,
    inputSchema: input,
    execute: async (order, call) => toText(order, (await refund(order, call)).id),
  });
  return sdkTool((order, key) => made.execute(order, { toolCallId: toCallId(key), messages: [] }));
}

/** A tool with `execute`. */
export const aiSdk: Contender = {
  name: 'AI SDK',
  authorWrote: 'nothing',
  packages,
  hasKey: true,
  open: ({ provider, load }) =>
    serve(
      load,
      ({ order, euros }) => provider.refund(order, euros),
      () => randomUUID(),
    ),
};

/** The same, but the ID of the tool call is the key of the client, and goes to the provider. */
export const aiSdkWithKey: Contender = {
  name: 'AI SDK, key as `toolCallId`',
  authorWrote: 'makes the key of the client the `toolCallId`, and sends that to the provider',
  packages,
  hasKey: true,
  open: ({ provider, load }) =>
    serve(
      load,
      ({ order, euros }, { toolCallId }) => provider.refund(order, euros, toolCallId),
      (key) => key ?? randomUUID(),
    ),
};
