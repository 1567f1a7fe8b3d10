import { type Called, type Json, type Peer, userAnswers, type Way } from './peer.ts';
import { type Load, runPeer } from './run-peer.ts';

interface Tool {
  execute(args: Json, context: object): Promise<Called['result']>;
  /** Only a tool with an output has it. Without it, the model reads the result. */
  readonly toModelOutput?: (result: unknown) => unknown;
}
interface Main {
  readonly MCPClient: new (options: object) => {
    listTools(): Promise<{ readonly [name: string]: Tool | undefined }>;
    disconnect(): Promise<void>;
  };
}

/** Connects the Mastra client, with the tools that it creates for agents. */
async function connect({ target, era, elicitation }: Way, load: Load): Promise<Peer> {
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
        // Returns the error as a model gets it, instead of throwing.
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
      const { toModelOutput = (value) => value } = tool;
      return { result, shown: JSON.stringify(await toModelOutput(result)) };
    },
    close: () => client.disconnect(),
  };
}

runPeer(connect);
