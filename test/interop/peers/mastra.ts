import { type Called, type Json, type Peer, userAnswers, type Way } from './peer.ts';
import { runPeer } from './run-peer.ts';

interface Tool {
  execute(args: Json, context: object): Promise<Called['result']>;
}
interface Main {
  readonly MCPClient: new (options: object) => {
    listTools(): Promise<{ readonly [name: string]: Tool | undefined }>;
    disconnect(): Promise<void>;
  };
}

/** Mastra's client, through the tools it makes for agents. */
async function connect(
  { target, era, elicitation }: Way,
  load: (name: string) => Promise<unknown>,
): Promise<Peer> {
  const { MCPClient } = (await load('@mastra/mcp')) as Main;
  const asked: string[] = [];
  const inputRequests = async ({ params }: { readonly params: { readonly message: string } }) => {
    asked.push(params.message);
    return { action: 'accept', content: userAnswers[params.message] };
  };
  const client = new MCPClient({
    servers: {
      interop: {
        ...('url' in target ? { url: new URL(target.url) } : target),
        ...(era === 'legacy' ? { protocolVersion: 'legacy' } : {}),
        ...(elicitation ? { inputRequests } : {}),
        // As a model is told, rather than thrown.
        onToolError: 'return',
      },
    },
  });
  const tools = await client.listTools();
  return {
    asked,
    call: async (name, args) => {
      const tool = tools[`interop_${name}`];
      if (tool === undefined) throw new Error(`There is no tool ${name}`);
      const result = await tool.execute(args, {});
      return { result, shown: JSON.stringify(result) };
    },
    close: () => client.disconnect(),
  };
}

await runPeer(connect);
