import { createSagaHost, type SagaHost, type SagaHostOptions } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as HttpV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { sessions } from '../support/sessions.ts';

const info = { name: 'matrix', version: '1.0.0' };

/** The same sagas in every way that a server can offer them. */
export interface EveryWay {
  /** Serves HTTP: `/mcp`, `/by-sdk`, `/sessions/1`, and `/sessions/2`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Makes a server of the SDK's first version. */
  readonly version1: () => ServerV1;
  /** Makes a server of the SDK's second version. */
  readonly version2: () => McpServer;
}

/** Serves sagas by `serveSagas`, and by servers of both versions of the SDK. */
export function serveEveryWay(options: SagaHostOptions): EveryWay {
  const host: SagaHost = createSagaHost(options);
  const direct = serveSagas({ ...options, ...info });
  const version2 = (): McpServer => {
    const server = new McpServer(info);
    host.attach(server);
    return server;
  };
  const version1 = (): ServerV1 => {
    const server = new ServerV1(info);
    host.attach(server);
    return server;
  };
  const stateless = createMcpHandler(version2);
  const paths: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    '/mcp': (request) => direct.fetch(request),
    '/by-sdk': (request) => stateless.fetch(request),
    '/sessions/2': sessions(async (session) => {
      const transport = new WebStandardStreamableHTTPServerTransport(session);
      await version2().connect(transport);
      return transport;
    }),
    '/sessions/1': sessions(async (session) => {
      const transport = new HttpV1(session);
      await version1().connect(transport);
      return transport;
    }),
  };
  const fetch = async (request: Request): Promise<Response> =>
    (await paths[new URL(request.url).pathname]?.(request)) ?? new Response(null, { status: 404 });
  return { fetch, version1, version2 };
}
