import { order } from '@mcp-saga/example-order/saga';
import { createSagaHost } from '@mcp-saga/server';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const host = createSagaHost({
  sagas: [order],
  // Without SAGA_KEYS, the process generates a key, and its sagas end with the process.
  keys: process.env['SAGA_KEYS'] ?? 'ephemeral',
  name: 'orders',
});

serveStdio(() => {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  host.attach(server);
  return server;
});
