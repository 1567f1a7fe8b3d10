// #region sessions
import { isLegacyRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { createServer } from './attach.ts';
import sagas from './serve.ts';

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

/** Clients of 2025 get a session, in this process; the others need none. */
export async function fetch(request: Request): Promise<Response> {
  if (!(await isLegacyRequest(request))) return await sagas.fetch(request);
  const id = request.headers.get('mcp-session-id');
  const session = id === null ? await openSession() : sessions.get(id);
  return session === undefined
    ? new Response('No such session', { status: 404 })
    : await session.handleRequest(request);
}

async function openSession(): Promise<WebStandardStreamableHTTPServerTransport> {
  const session = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, session),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await createServer().connect(session);
  return session;
}
// #endregion sessions
