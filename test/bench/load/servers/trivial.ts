import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { info, Input, tool } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

// Minimal tool on the SDK: asks no question, and returns a text.
const handler = createMcpHandler(() => {
  const server = new McpServer(info);
  server.registerTool(
    tool.name,
    { description: tool.description, inputSchema: Input },
    ({ service }) => ({
      content: [{ type: 'text', text: service }],
    }),
  );
  return server;
});
await serveMeasured((request) => handler.fetch(request));
