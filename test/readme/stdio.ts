// #region stdio
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createSagaHost } from '@mcp-saga/server';
import { deploy } from './deploy.ts';

export async function serveStdio(): Promise<void> {
  // One process, which its client starts: its keys may die with it.
  const host = createSagaHost({ sagas: [deploy], keys: 'ephemeral', audience: 'deployer' });
  const server = new McpServer({ name: 'deployer', version: '1.0.0' });
  host.attach(server);
  await server.connect(new StdioServerTransport());
}
// #endregion stdio
