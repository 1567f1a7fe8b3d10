// #region users
import { createSagaHost } from '@mcp-saga/server';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { note } from './tool.ts';

const host = createSagaHost({
  sagas: [note],
  keys: process.env['SAGA_KEYS'],
  name: 'notes',
  auth: {
    // gets the user, here the AuthInfo of the SDK
    principal: (user) => {
      const { extra, clientId } = Object(user);
      return { subject: extra.user, client: clientId };
    },
    // gets the caller, which has the user
    authorize: ({ user }, { name }) => name !== 'note' || Object(user).extra?.user === 'alice',
  },
});

export function createServer(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  host.attach(server);
  return server;
}
// #endregion users
