import { order } from '@mcp-saga/example-order/saga';
import { createSagaHost } from '@mcp-saga/server';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const host = createSagaHost({
  sagas: [order],
  // Without a key of its own the process draws one, and what it has sealed ends with it.
  keys: process.env['SAGA_KEYS'] ?? 'ephemeral',
  audience: 'orders',
});

serveStdio(() => {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  host.attach(server);
  return server;
});
