import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { info, Input, Target, told, tool, when, where, Window } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

// The tool written for sessions: its handler waits for each answer while the call stays open, on
// the server of its session.
function createServer(): McpServer {
  const server = new McpServer(info);
  server.registerTool(
    tool.name,
    { description: tool.description, inputSchema: Input },
    async ({ service }, ctx) => {
      // Asks on the stream of the call, with a timeout of an hour.
      const options = { relatedRequestId: ctx.mcpReq.id, timeout: 3_600_000 };
      const target = Target.safeParse(
        (await ctx.mcpReq.elicitInput({ message: where, requestedSchema: targetForm }, options))
          .content,
      );
      const window = Window.safeParse(
        (await ctx.mcpReq.elicitInput({ message: when, requestedSchema: windowForm }, options))
          .content,
      );
      if (!target.success || !window.success)
        return { isError: true, content: [{ type: 'text', text: 'Refused.' }] };
      return {
        content: [{ type: 'text', text: told(service, target.data.target, window.data.from) }],
      };
    },
  );
  return server;
}

const targetForm = {
  type: 'object' as const,
  properties: { target: { type: 'string' as const } },
  required: ['target'],
};
const windowForm = {
  type: 'object' as const,
  properties: { from: { type: 'string' as const }, hours: { type: 'number' as const } },
  required: ['from', 'hours'],
};

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

async function startSession(): Promise<WebStandardStreamableHTTPServerTransport> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await createServer().connect(transport);
  return transport;
}

await serveMeasured(async (request) => {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
  return await (known ?? (await startSession())).handleRequest(request);
});
