import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { keyOf, type Order, type Served } from './contender.ts';

export const description = 'Refunds an order';
export const input: z.ZodType<Order> = z.object({ order: z.string(), euros: z.number() });

/**
 * Serves the tool with the official SDK.
 *
 * @param refund - gets the arguments and the key of the client, and returns the text of the result
 */
export function sdkTool(
  refund: (order: Order, key: string | undefined) => Promise<string>,
): Served {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    const tool = { description, inputSchema: input };
    server.registerTool('refund', tool, async (order, { mcpReq }) => ({
      content: [{ type: 'text', text: await refund(order, keyOf(mcpReq)) }],
    }));
    return server;
  });
  return { fetch: (request) => handler.fetch(request) };
}
