// #region v1
import { createSagaHost } from '@mcp-saga/server';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { note } from './tool.ts';

const host = createSagaHost({
  sagas: [note],
  keys: process.env['SAGA_KEYS'],
  name: 'notes',
  // a step with `compensate` or `once` also needs a `store`
});

export function createServer(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  host.attach(server);
  return server;
}
// #endregion v1
