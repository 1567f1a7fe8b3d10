import { createSagaHost, type SagaHost } from '@mcp-saga/server';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as TransportV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  hostHeaderValidationResponse,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { contentSagas } from './contents.ts';
import { sagas2025 } from './elicitation-2025.ts';
import { type EventStore, memoryEvents } from './event-store.ts';
import { promptSagas } from './prompt.ts';
import { registerResources, resourceSagas } from './resources.ts';

/** A session's transport, of either version of the SDK. */
interface SessionTransport {
  handleRequest(request: Request): Promise<Response>;
}

/** Options of a session, for its transport. */
interface SessionOptions {
  readonly eventStore: EventStore;
  readonly retryInterval: number;
  readonly sessionIdGenerator: () => string;
  readonly onsessioninitialized: (id: string) => void;
  readonly onsessionclosed: (id: string) => void;
}

/** Starts a session on one version of the SDK: a server of its own, with the host's sagas. */
export type StartSession = (host: SagaHost, options: SessionOptions) => Promise<SessionTransport>;

export const info = { name: 'conformance', version: '1.0.0' };

const capabilities = { logging: {} };

const reconnection = {
  name: 'test_reconnection',
  config: { description: 'Closes the stream of its own call' },
  result: { content: [{ type: 'text' as const, text: 'Reconnected' }] },
};

/** Sessions on version 2 of the SDK. */
export const version2: StartSession = async (host, options) => {
  const server = new McpServer(info, { capabilities });
  host.attach(server);
  registerResources(server);
  server.registerTool(reconnection.name, reconnection.config, ({ http }) => {
    http?.closeSSE?.();
    return reconnection.result;
  });
  const transport = new WebStandardStreamableHTTPServerTransport(options);
  await server.connect(transport);
  return transport;
};

/** Sessions on version 1 of the SDK. */
export const version1: StartSession = async (host, options) => {
  const server = new McpServerV1(info, { capabilities });
  host.attach(server);
  registerResources(server);
  server.registerTool(reconnection.name, reconnection.config, ({ closeSSEStream }) => {
    closeSSEStream?.();
    return reconnection.result;
  });
  const transport = new TransportV1(options);
  await server.connect(transport);
  return transport;
};

/**
 * Serves the sagas for the specification of 2025: in sessions, where the server can ask the client.
 */
export function serveSessions(start: StartSession): (request: Request) => Promise<Response> {
  const host = createSagaHost({
    sagas: [...sagas2025, ...contentSagas, ...promptSagas, ...resourceSagas],
    keys: 'ephemeral',
    name: info.name,
    // One tool fails, as it should.
    hooks: { onTurn: () => undefined },
  });
  const sessions = new Map<string, SessionTransport>();
  return async (request) => {
    const refused = hostHeaderValidationResponse(request, ['localhost', '127.0.0.1', '[::1]']);
    if (refused !== undefined) return refused;
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : sessions.get(id);
    if (session !== undefined) return await session.handleRequest(request);
    if (id !== null) return new Response('No such session\n', { status: 404 });
    const transport = await start(host, {
      eventStore: memoryEvents(),
      retryInterval: 50,
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (opened) => void sessions.set(opened, transport),
      onsessionclosed: (closed) => void sessions.delete(closed),
    });
    return await transport.handleRequest(request);
  };
}
