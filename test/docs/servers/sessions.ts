// #region sessions
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express, { type Express } from 'express';
import { createServer } from './v1.ts';

export const app: Express = express();
const sessions = new Map<string, StreamableHTTPServerTransport>();

app.all('/mcp', async (request, response) => {
  const id = request.get('mcp-session-id');
  const transport = id === undefined ? await open() : sessions.get(id);
  if (transport === undefined) response.status(404).send('No such session');
  else await transport.handleRequest(request, response);
});

async function open(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await createServer().connect(transport);
  return transport;
}
// #endregion sessions
