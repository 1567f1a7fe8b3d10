// #region sessions
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express, { type Express } from 'express';
import { createServer } from './v1.ts';

const maxSessions = 1_000;
const maxIdleMs = 30 * 60_000;

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly usedAt: number;
}

/** In the order of their last use: the first session has been idle for the longest time. */
const sessions = new Map<string, Session>();

export const app: Express = express();

app.all('/mcp', async (request, response) => {
  await closeIdleSessions();
  const id = request.get('mcp-session-id');
  if (id === undefined && sessions.size >= maxSessions) {
    response.status(503).send('Too many sessions');
    return;
  }
  const transport = id === undefined ? await openSession() : sessions.get(id)?.transport;
  if (transport === undefined) {
    response.status(404).send('No such session');
    return;
  }
  if (id !== undefined) keep(id, transport);
  await transport.handleRequest(request, response);
});

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => keep(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await createServer().connect(transport);
  return transport;
}

function keep(id: string, transport: StreamableHTTPServerTransport): void {
  sessions.delete(id);
  sessions.set(id, { transport, usedAt: Date.now() });
}

async function closeIdleSessions(): Promise<void> {
  for (const [id, { transport, usedAt }] of sessions) {
    if (Date.now() - usedAt < maxIdleMs) return;
    sessions.delete(id);
    await transport.close();
  }
}
// #endregion sessions
