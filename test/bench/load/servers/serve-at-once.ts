import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { info, Input, tool } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

/** Serves a tool on the SDK that asks no question, and returns a text. */
export async function serveAtOnce(textOf: (service: string) => string): Promise<void> {
  const handler = createMcpHandler(() => {
    const server = new McpServer(info);
    server.registerTool(
      tool.name,
      { description: tool.description, inputSchema: Input },
      ({ service }) => ({ content: [{ type: 'text', text: textOf(service) }] }),
    );
    return server;
  });
  await serveMeasured((request) => handler.fetch(request));
}
