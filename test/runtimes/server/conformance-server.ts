import {
  createSagaHost,
  memoryGuard,
  memoryTaskStore,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import type { TestingOptions } from '@mcp-saga/server/internal';
import { serveSagas } from '@mcp-saga/server/serve';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as HttpV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { sessions } from '../../support/sessions.ts';
import { Effects } from './effects.ts';
import { conformanceSagas } from './sagas.ts';

/** Answers one request, as a runtime hands it over. */
export type Fetch = (request: Request, env?: unknown, runtime?: unknown) => Promise<Response>;

const info = { name: 'conformance', version: '1' };

/**
 * The server that every runtime runs, written for none of them: `/mcp` serves sagas statelessly, as one line does it;
 * `/session/1` and `/session/2` keep sessions, with either version of the SDK; `/effects?label=…` says what the steps of
 * a call did. What a fleet has in its configuration is in the query here, so that one process can stand for many:
 *
 * - `keys=k2,k1`: which of its keys the host has, in which order. Default: all, as they are
 * - `sealing=portable`: which implementation seals. Default: the host's
 * - `at=…`: what its clock says, in milliseconds since the epoch. Default: the time
 *
 * @param keysOf - the keys, from what the runtime hands over beside each request
 */
export function conformanceServer(keysOf: (env: unknown) => string): Fetch {
  const effects = new Effects();
  const common: Omit<SagaHostOptions, 'audience'> = {
    sagas: conformanceSagas(effects),
    // What is kept is kept in this process, whichever host asks.
    guard: { store: memoryGuard() },
    tasks: { store: memoryTaskStore(), bearer: 'accept', pollIntervalMs: 10 },
    resumableRequests: { bearer: 'accept' },
    answers: { model: 'accept' },
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

function serve(path: string, options: Omit<SagaHostOptions, 'audience'>): Fetch {
  const host = (): SagaHost => createSagaHost({ ...options, audience: info.name });
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
        const [server, transport] = [new McpServer(info), new WebStandardStreamableHTTPServerTransport(of)];
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
