import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const form = {
  mode: 'form',
  message: 'Please answer',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', default: 'John Doe' } },
  },
} as const;

/**
 * A server of the SDK alone: it asks as the SDK's own documentation says, and keeps no sessions.
 */
function officialServer(): McpServer {
  const server = new McpServer({ name: 'official', version: '1.0.0' });
  const asking = [
    'test_elicitation',
    'test_elicitation_sep1034_defaults',
    'test_elicitation_sep1330_enums',
  ];
  for (const name of asking) {
    server.registerTool(name, { inputSchema: z.looseObject({}) }, async (_, { mcpReq }) => {
      const { action } = await mcpReq.elicitInput(form);
      return { content: [{ type: 'text', text: action }] };
    });
  }
  server.registerTool(
    'test_sampling',
    { inputSchema: z.looseObject({}) },
    async (_, { mcpReq }) => {
      const content = { type: 'text', text: 'Are you there?' } as const;
      const params = { messages: [{ role: 'user', content } as const], maxTokens: 10 };
      // Without sessions no answer can arrive, so that the SDK waits until this time is over.
      await mcpReq.requestSampling(params, { timeout: 100 });
      return { content: [content] };
    },
  );
  server.registerTool('test_reconnection', {}, ({ http }) => {
    http?.closeSSE?.();
    return { content: [] };
  });
  return server;
}

/** Serves without sessions and without sagas. */
export function serveOfficial(): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(officialServer);
  return (request) => handler.fetch(request);
}
