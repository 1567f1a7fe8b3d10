/**
 * Server process of the matrix: serves the quickstart and `provision` in all HTTP modes, or over
 * stdio.
 */
import { createSagaHost, type SagaHost, type SagaHostOptions } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { WebStandardStreamableHTTPServerTransport as HttpV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serve } from 'srvx';
import { provision } from '../../examples/provision/saga.ts';
import { complexTool } from '../../examples/quickstart/saga.ts';
import { sessions } from '../support/sessions.ts';

const info = { name: 'matrix', version: '1.0.0' };
const hostOptions: SagaHostOptions = {
  sagas: [complexTool, provision],
  audience: info.name,
  answers: {
    // For clients that cannot ask their user: the model that calls the tool answers.
    model: 'accept',
  },
  tasks: { bearer: 'accept', maxIdLength: 4_096 },
  resumableRequests: { bearer: 'accept' },
  hooks: {
    onStep: ({ kind, path, type }) => {
      if (kind === 'step' && type === 'succeeded') console.error(`ran ${path}`);
    },
    onError: (error) => console.error('error', error),
  },
};
const host: SagaHost = createSagaHost(hostOptions);
const direct = serveSagas({ ...hostOptions, ...info });

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
  '/sessions/2': sessions(async (options) => {
    const transport = new WebStandardStreamableHTTPServerTransport(options);
    await version2().connect(transport);
    return transport;
  }),
  '/sessions/1': sessions(async (options) => {
    const transport = new HttpV1(options);
    await version1().connect(transport);
    return transport;
  }),
};

const [, , transport = 'http'] = process.argv;
switch (transport) {
  case 'stdio-1':
    await version1().connect(new StdioServerTransport());
    break;
  case 'stdio-2':
    serveStdio(version2);
    break;
  default: {
    const server = serve({
      fetch: async (request) =>
        (await paths[new URL(request.url).pathname]?.(request)) ??
        new Response(null, { status: 404 }),
      hostname: '127.0.0.1',
      port: Number(process.env['PORT'] ?? 0),
      silent: true,
    });
    await server.ready();
    console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
  }
}
