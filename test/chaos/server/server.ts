/** A server process: the sagas over HTTP, without sessions and in sessions of either SDK. It may be killed at any time. */
import { redisGuard, redisTaskStore } from '@mcp-saga/redis';
import { createSagaHost, TokenRefused, type GuardClaim, type SuspendedSagaFacts } from '@mcp-saga/server';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as HttpV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createClient } from 'redis';
import { serve } from 'srvx';
import { errand } from './machine.ts';
import { sagasOf, type Release } from './sagas.ts';
import { labelsOf } from '../provider/label.ts';
import { ask } from './shop.ts';

const info = { name: 'chaos', version: '1.0.0' };
const { NAME = 'server', CLOCK_OFFSET = '0', REDIS_URL = '', RELEASE = 'new' } = process.env;

const redis = createClient({ url: REDIS_URL, disableOfflineQueue: true });
// Redis restarts on purpose: the client reconnects by itself.
redis.on('error', () => undefined);
await redis.connect();

/** Tells the queue, which may be down for a while: as any of its clients, it tries again until it is told. */
async function queue(path: string, body: object): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- again, until it is told
      await ask(path, body);
      return;
    } catch (error) {
      if (tries === 600) throw error;
      // oxlint-disable-next-line no-await-in-loop -- again, until it is told
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

const guard = redisGuard(redis);
/** The process that empties the queue lives a week ahead of Redis, which would refuse a host whose clock differs so much. */
const isDrain = NAME === 'drain';

function withoutTime(claim: GuardClaim): GuardClaim {
  const { now: _, ...others } = claim;
  return others;
}

const host = createSagaHost({
  sagas: [...sagasOf(RELEASE as Release), errand],
  keys: process.env['SAGA_KEYS'],
  audience: info.name,
  guard: {
    store: { ...guard, begin: (claim) => guard.begin(isDrain ? withoutTime(claim) : claim) }, // Longer than a turn takes, and short enough for those who wait for the work of a process that was killed.
    leaseMs: 5_000,
  },
  limits: {
    turnBudgetMs: 4_000, // The queue may be away for longer than a request waits by default.
    hookTimeoutMs: 40_000,
  },
  answers: { model: 'accept' },
  tasks: { store: redisTaskStore(redis), bearer: 'accept', pollIntervalMs: 100 },
  resumableRequests: { bearer: 'accept' },
  testing: { clock: () => Date.now() + Number(CLOCK_OFFSET), environment: 'production' },
  hooks: {
    onSuspended: ({ sagaId, turn, cancelToken }: SuspendedSagaFacts) =>
      queue('/queue/suspended', { sagaId, turn, cancelToken }),
    onSettled: ({ saga, sagaId, residue }) =>
      queue('/queue/settled', { sagaId, residue: labelsOf(residue, `${saga}:${sagaId}`) }),
    onReject: ({ reason, suppressed }) => console.log(`rejected ${reason} ${1 + suppressed}`),
    onTurn: () => undefined,
    onError: (error) => {
      // Expected while Redis is down.
      if (redis.isReady || !/guard cannot be asked|offline|Socket closed/.test(String(error)))
        console.error(String(error));
    },
  },
});

interface Transport {
  handleRequest(request: Request): Promise<Response>;
}

interface SessionOptions {
  readonly sessionIdGenerator: () => string;
  readonly onsessioninitialized: (id: string) => void;
}

/** Sessions of 2025. The name of the process is in their ids, so that a proxy knows where they live. */
function sessions(
  begin: (options: SessionOptions) => Promise<Transport>,
): (request: Request) => Promise<Response> {
  const begun = new Map<string, Transport>();
  return async (request) => {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const known = begun.get(id);
      return known === undefined ? new Response(null, { status: 404 }) : await known.handleRequest(request);
    }
    const transport = await begin({
      sessionIdGenerator: () => `${NAME}.${crypto.randomUUID()}`,
      onsessioninitialized: (opened) => void begun.set(opened, transport),
    });
    return await transport.handleRequest(request);
  };
}

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

/** What the queue delivers: for the operator, and on no path that a proxy would let through. */
async function cancel(request: Request): Promise<Response> {
  const { cancelToken } = (await request.json()) as { readonly cancelToken: string };
  try {
    const turn = await host.cancel(cancelToken);
    if (turn.status !== 'failed') return Response.json({ status: turn.status });
    const purchase = `${turn.saga}:${turn.sagaId}`;
    const compensated = labelsOf(turn.compensated, purchase);
    return Response.json({ status: 'failed', compensated, residue: labelsOf(turn.residue, purchase) });
  } catch (error) {
    if (error instanceof TokenRefused) return Response.json({ status: 'refused' });
    // It is not done yet, or somebody else is at it: to be delivered again.
    return Response.json({ status: 'later', reason: String(error) });
  }
}

const paths: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
  '/mcp': (request) => stateless.fetch(request),
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
  '/cancel': cancel,
};

const server = serve({
  fetch: async (request) =>
    (await paths[new URL(request.url).pathname]?.(request)) ?? new Response(null, { status: 404 }),
  hostname: '127.0.0.1',
  port: 0,
  silent: true,
});
await server.ready();
console.log(server.url);
// Whoever started it has died.
process.stdin.once('close', () => process.exit()).resume();
