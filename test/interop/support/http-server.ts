import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  isInitializeRequest,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
  WebStandardStreamableHTTPServerTransport as SessionTransport,
} from '@modelcontextprotocol/server';

/** Registers the tools on a server. */
export type Attach = (server: McpServer) => void;

/** Answers requests to a server. */
export type Fetch = (request: Request) => Promise<Response>;

/** A server in this process. */
export interface HttpServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * A server with the tools, and with the plain tool `who_am_i`, which returns the declared
 * capabilities.
 */
export function newServer(attach: Attach): McpServer {
  const server = new McpServer({ name: 'interop', version: '1.0.0' });
  attach(server);
  server.registerTool('who_am_i', {}, ({ mcpReq, sessionId }) => {
    const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
    const declared =
      envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
    const facts = {
      revision:
        envelope?.[PROTOCOL_VERSION_META_KEY] ?? server.server.getNegotiatedProtocolVersion(),
      declared: declared === undefined ? 'unknown' : Object.keys(declared),
      hasSession: sessionId !== undefined,
    };
    return { content: [{ type: 'text', text: JSON.stringify(facts) }] };
  });
  return server;
}

/**
 * Streamable HTTP without state between requests: for 2026-07-28, and for stateless 2025 clients.
 */
export function stateless(attach: Attach): Fetch {
  const handler = createMcpHandler(() => newServer(attach));
  return (request) => handler.fetch(request);
}

/**
 * Streamable HTTP with sessions, as in 2025: `initialize` opens a session, and each session has its
 * own server.
 */
export function sessions(attach: Attach): Fetch {
  const open = new Map<string, SessionTransport>();
  return async (request) => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : open.get(id);
    if (known !== undefined) return await known.handleRequest(request);
    const body: unknown = request.method === 'POST' ? await request.json() : undefined;
    if (id !== null || !isInitializeRequest(body)) {
      const error = { code: -32_000, message: 'Bad Request: no session' };
      return Response.json(
        { jsonrpc: '2.0', id: null, error },
        { status: id === null ? 400 : 404 },
      );
    }
    const transport = new SessionTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void open.set(session, transport),
      onsessionclosed: (session) => void open.delete(session),
    });
    await newServer(attach).connect(transport);
    return await transport.handleRequest(request, { parsedBody: body });
  };
}

/** Makes a listener of `node:http` that answers with a function of the web standard. */
export function toListener(fetch: Fetch): RequestListener {
  return (incoming, outgoing) => {
    void (async () => {
      const { status, headers, body } = await fetch(toRequest(incoming));
      outgoing.writeHead(status, Object.fromEntries(headers));
      // Sends the headers at once, because a stream may stay open without data.
      outgoing.flushHeaders();
      if (body === null) outgoing.end();
      else
        Readable.fromWeb(body as ReadableStream)
          .on('error', () => outgoing.destroy())
          .pipe(outgoing);
    })().catch((error: unknown) => outgoing.destroy(error as Error));
  };
}

/** Listens on a free port of 127.0.0.1. */
export async function listen(fetch: Fetch): Promise<HttpServer> {
  const server = createServer(toListener(fetch));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function toRequest(incoming: IncomingMessage): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    ...(hasBody
      ? { body: Readable.toWeb(incoming) as globalThis.ReadableStream, duplex: 'half' }
      : {}),
  });
}
