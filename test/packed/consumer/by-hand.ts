import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { disk } from './disk.ts';

const Sure = z.object({ sure: z.boolean() });

/** A worker with a tool on the SDK alone: what the bundle of `erase.ts` is compared with. */
export default createMcpHandler(() => {
  const server = new McpServer(
    { name: 'disk', version: '1.0.0' },
    { capabilities: { logging: {} } },
  );
  server.registerTool('erase', { inputSchema: Sure }, async ({ sure }) => ({
    content: [{ type: 'text', text: sure ? await disk.erase('1') : 'Kept.' }],
  }));
  return server;
});
