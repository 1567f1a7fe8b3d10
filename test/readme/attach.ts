// #region attach
import { McpServer } from '@modelcontextprotocol/server';
import { createSagaHost } from '@mcp-saga/server';
import { deploy } from './deploy.ts';

const host = createSagaHost({
  sagas: [deploy],
  keys: process.env['SAGA_KEYS'],
  name: 'deployer',
});

export function createServer(): McpServer {
  const server = new McpServer({ name: 'deployer', version: '1.0.0' });
  host.attach(server);
  return server;
}
// #endregion attach
