import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { info, type Input, Target, told, tool, when, where, Window } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

// The tool written by hand with the SDK. Its handler runs again in every round, and the SDK's codec
// signs the state between rounds.
interface State {
  readonly target?: string;
}

const codec = createRequestStateCodec<State>({
  key: randomBytes(32),
  ttlSeconds: 3600,
  bind: (ctx: ServerContext) => ctx.mcpReq.method,
});

function createServer(input: typeof Input): McpServer {
  const server = new McpServer(info, {
    requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
  });
  server.registerTool(
    tool.name,
    { description: tool.description, inputSchema: input },
    async ({ service }, ctx) => {
      const { inputResponses } = ctx.mcpReq;
      const target =
        ctx.mcpReq.requestState<State>()?.target ??
        acceptedContent(inputResponses, 'target', Target)?.target;
      if (target === undefined) {
        return inputRequired({
          inputRequests: {
            target: inputRequired.elicit({ message: where, requestedSchema: Target }),
          },
          requestState: await codec.mint({}, ctx),
        });
      }
      const window = acceptedContent(inputResponses, 'window', Window);
      if (window === undefined) {
        return inputRequired({
          inputRequests: {
            window: inputRequired.elicit({ message: when, requestedSchema: Window }),
          },
          requestState: await codec.mint({ target }, ctx),
        });
      }
      return { content: [{ type: 'text', text: told(service, target, window.from) }] };
    },
  );
  return server;
}

/** Serves the tool, with a server for each request. */
export async function serveByHand(input: typeof Input): Promise<void> {
  const handler = createMcpHandler(() => createServer(input));
  await serveMeasured((request) => handler.fetch(request));
}
