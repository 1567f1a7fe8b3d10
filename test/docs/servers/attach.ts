// #region attach
import { createSagaHost } from '@mcp-saga/server';
import { McpServer } from '@modelcontextprotocol/server';
import { note } from './tool.ts';

const host = createSagaHost({ sagas: [note], keys: process.env['SAGA_KEYS'], name: 'notes' });

export function createServer(): McpServer {
  const server = new McpServer(
    { name: 'notes', version: '1.0.0' },
    { capabilities: { tools: { listChanged: false } } },
  );
  // The tools, prompts, and resources that you have.
  host.attach(server);
  return server;
}
// #endregion attach
