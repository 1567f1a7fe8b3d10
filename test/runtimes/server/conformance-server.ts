import { createSagaHost, memoryStore, type SagaHost, type SagaHostOptions } from '@mcp-saga/server';
import type { TestingOptions } from '@mcp-saga/server/internal';
import { serveSagas } from '@mcp-saga/server/serve';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as HttpV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { sessions } from '../../support/sessions.ts';
import { Effects } from './effects.ts';
import { conformanceSagas } from './sagas.ts';
import { askingModels } from '../../support/asking-models.ts';

/** Answers one request, called by a runtime. */
export type Fetch = (request: Request, env?: unknown, runtime?: unknown) => Promise<Response>;

const info = { name: 'conformance', version: '1' };

/**
 * Server for all runtimes. `/mcp` serves sagas statelessly. `/session/1` and `/session/2` keep
 * sessions, with SDK version 1 or 2. `/effects?label=…` returns the effects of a call. The query
 * replaces the configuration of a fleet, so that one process can act as many:
 *
 * - `keys=k2,k1`: keys of the host, in this order. Default: all keys in their configured order
 * - `sealing=portable`: sealing implementation. Default: the host's
 * - `at=…`: time of its clock, in milliseconds since the epoch. Default: the current time
 *
 * @param keysOf - the keys, from what the runtime hands over beside each request
 */
export function conformanceServer(keysOf: (env: unknown) => string): Fetch {
  const effects = new Effects();
  const common: Omit<SagaHostOptions, 'name'> = {
    sagas: askingModels(conformanceSagas(effects)),
    // Processes of a fleet share no store, and so no states of short tokens.
    store: memoryStore({ olderTokens: 'accept', clock: Date.now }),
    shortTokens: false,
    anonymous: { tasks: 'accept', resumableRequests: 'accept' },
    answerers: { model: 'accept' },
    hooks: {
      onTurn: ({ sagaId, error }) => {
        if (error !== undefined) effects.note(sagaId, String(Object(error).code), '');
      },
      onWarning: () => undefined,
    },
  };
  const hosts = new Map<string, Fetch>();
  return async (request, env, runtime) => {
    const { pathname, search, searchParams } = new URL(request.url);
    if (pathname === '/effects') return Response.json(effects.of(searchParams.get('label') ?? ''));
    const known = hosts.get(pathname + search);
    if (known !== undefined) return await known(request, env, runtime);
    try {
      const made = serve(pathname, { ...common, ...optionsIn(searchParams, keysOf(env)) });
      hosts.set(pathname + search, made);
      return await made(request, env, runtime);
    } catch (error) {
      return Response.json({ code: String(Object(error).code) }, { status: 500 });
    }
  };
}

function serve(path: string, options: Omit<SagaHostOptions, 'name'>): Fetch {
  const host = (): SagaHost => createSagaHost({ ...options, name: info.name });
  switch (path) {
    case '/mcp': {
      const server = serveSagas({ ...options, ...info });
      return async (...request) => await server.fetch(...request);
    }
    case '/session/1': {
      const kept = host();
      return sessions(async (of) => {
        const [server, transport] = [new ServerV1(info), new HttpV1(of)];
        kept.attach(server);
        await server.connect(transport);
        return transport;
      });
    }
    case '/session/2': {
      const kept = host();
      return sessions(async (of) => {
        const [server, transport] = [
          new McpServer(info),
          new WebStandardStreamableHTTPServerTransport(of),
        ];
        kept.attach(server);
        await server.connect(transport);
        return transport;
      });
    }
    default:
      return () => Promise.resolve(new Response('Nothing here.', { status: 404 }));
  }
}

function optionsIn(query: URLSearchParams, all: string): Pick<SagaHostOptions, 'keys' | 'testing'> {
  const [kids, at, sealing] = [query.get('keys'), query.get('at'), query.get('sealing')];
  const byKid = new Map(all.split(',').map((key) => [key.slice(0, key.indexOf(':')), key]));
  const keysIn = (listed: string): string =>
    listed
      .split(',')
      .map((kid) => byKid.get(kid) ?? kid)
      .join(',');
  return {
    keys: kids === null ? all : keysIn(kids),
    testing: {
      environment: 'production',
      ...(at === null ? {} : { clock: () => Number(at) }),
      ...(sealing === null ? {} : { sealing: sealing as NonNullable<TestingOptions['sealing']> }),
    },
  };
}
