// #region sessions
import {
  hostHeaderValidationResponse,
  isLegacyRequest,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createServer } from './attach.ts';
import sagas from './serve.ts';

const hosts = ['localhost', '127.0.0.1', '[::1]']; // and the names by which your clients know the server
const maxSessions = 1_000;
const maxIdleMs = 30 * 60_000;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly usedAt: number;
}

/** Ordered by last use: the first session has been idle for the longest time. */
const sessions = new Map<string, Session>();

/** Clients of 2025 get a session in this process. Other clients need none. */
export async function fetch(request: Request): Promise<Response> {
  // No web page reaches this server under a name of its own, and no page of another host sends to
  // it.
  const refused =
    hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, hosts);
  if (refused !== undefined) return refused;
  if (!(await isLegacyRequest(request))) return await sagas.fetch(request);
  await closeIdleSessions();
  const id = request.headers.get('mcp-session-id');
  if (id === null) {
    if (sessions.size >= maxSessions) return new Response('Too many sessions', { status: 503 });
    return await (await openSession()).handleRequest(request);
  }
  const session = sessions.get(id);
  if (session === undefined) return new Response('No such session', { status: 404 });
  keep(id, session.transport);
  return await session.transport.handleRequest(request);
}

async function openSession(): Promise<WebStandardStreamableHTTPServerTransport> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => keep(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await createServer().connect(transport);
  return transport;
}

function keep(id: string, transport: WebStandardStreamableHTTPServerTransport): void {
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
