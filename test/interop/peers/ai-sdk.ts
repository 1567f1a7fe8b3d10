import { type Called, type Json, type Peer, type Target, userAnswers, type Way } from './peer.ts';
import { type Load, runPeer } from './run-peer.ts';

interface Tool {
  execute(args: Json, options: object): Promise<Called['result']>;
  toModelOutput(call: { readonly output: unknown }): unknown;
}
interface Client {
  onElicitationRequest(
    schema: unknown,
    handler: (request: { readonly params: { readonly message: string } }) => object,
  ): void;
  tools(): Promise<{ readonly [name: string]: Tool | undefined }>;
  close(): Promise<void>;
}
interface Main {
  readonly createMCPClient: (options: object) => Promise<Client>;
  readonly ElicitationRequestSchema: unknown;
}
interface Stdio {
  readonly Experimental_StdioMCPTransport: new (options: Target) => object;
}

/** Connects the Vercel AI SDK client, with the tools that it creates for `generateText`. */
async function connect({ target, era, elicitation }: Way, load: Load): Promise<Peer> {
  const { createMCPClient, ElicitationRequestSchema } = (await load('@ai-sdk/mcp')) as Main;
  const { Experimental_StdioMCPTransport: Stdio } = (await load('@ai-sdk/mcp/mcp-stdio')) as Stdio;
  const asked: string[] = [];
  const client = await createMCPClient({
    transport: 'url' in target ? { type: 'http', url: target.url } : new Stdio(target),
    protocolVersionDiscovery: era === 'modern',
    capabilities: elicitation ? { elicitation: {} } : {},
  });
  if (elicitation) {
    client.onElicitationRequest(ElicitationRequestSchema, ({ params: { message } }) => {
      asked.push(message);
      return { action: 'accept', content: userAnswers[message] };
    });
  }
  const tools = await client.tools();
  return {
    asked,
    call: async (name, args) => {
      const tool = tools[name];
      if (tool === undefined) throw new Error(`There is no tool ${name}`);
      const result = await tool.execute(args, { toolCallId: 'call', messages: [] });
      return { result, shown: JSON.stringify(tool.toModelOutput({ output: result })) };
    },
    close: () => client.close(),
  };
}

runPeer(connect);
