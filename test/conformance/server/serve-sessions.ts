import { createSagaHost, type SagaHost } from '@mcp-saga/server';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as TransportV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { sagas2025 } from './elicitation-2025.ts';
import { listen, type Listening } from './listening.ts';

/** A session's transport, of either version of the SDK. */
interface SessionTransport {
  handleRequest(request: Request): Promise<Response>;
}

/** What a session tells of itself. */
interface SessionOptions {
  readonly sessionIdGenerator: () => string;
  readonly onsessioninitialized: (id: string) => void;
  readonly onsessionclosed: (id: string) => void;
}

/** Starts a session on one version of the SDK: a server of its own, with the host's sagas. */
type StartSession = (host: SagaHost, options: SessionOptions) => Promise<SessionTransport>;

const info = { name: 'conformance', version: '1.0.0' };

/** Sessions on version 2 of the SDK. */
export const version2: StartSession = async (host, options) => {
  const server = new McpServer(info);
  host.attach(server);
  const transport = new WebStandardStreamableHTTPServerTransport(options);
  await server.connect(transport);
  return transport;
};

/** Sessions on version 1 of the SDK. */
export const version1: StartSession = async (host, options) => {
  const server = new McpServerV1(info);
  host.attach(server);
  const transport = new TransportV1(options);
  await server.connect(transport);
  return transport;
};

/** Serves the sagas for the specification of 2025: in sessions, where the server can ask the client. */
export async function serveSessions(start: StartSession): Promise<Listening> {
  const host = createSagaHost({ sagas: sagas2025, keys: 'ephemeral', audience: info.name });
  const sessions = new Map<string, SessionTransport>();
  return await listen(async (request) => {
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : sessions.get(id);
    if (session !== undefined) return await session.handleRequest(request);
    if (id !== null) return new Response('No such session\n', { status: 404 });
    const transport = await start(host, {
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (opened) => void sessions.set(opened, transport),
      onsessionclosed: (closed) => void sessions.delete(closed),
    });
    return await transport.handleRequest(request);
  });
}
