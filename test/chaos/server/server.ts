/**
 * Server process: serves the sagas over HTTP, with sessions of both SDKs and without. It may be
 * killed at any time.
 */
import {
  createSagaHost,
  TokenRefused,
  type SagaStore,
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport as HttpV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serve } from 'srvx';
import { sessions } from '../../support/sessions.ts';
import { errand } from './machine.ts';
import { openStore } from './open-store.ts';
import { startOutside } from './outside-host.ts';
import { sagasOf, type Release } from './sagas.ts';
import { labelsOf } from '../provider/label.ts';
import { ask } from './shop.ts';
import { askingModels } from '../../support/asking-models.ts';

const info = { name: 'chaos', version: '1.0.0' };
const { NAME = 'server', CLOCK_OFFSET = '0', RELEASE = 'new' } = process.env;

const { store, isOutage } = await openStore();

/** Notifies the queue, with retries while the queue is down. */
async function queue(path: string, body: object): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await ask(path, body);
      return;
    } catch (error) {
      if (tries === 600) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/**
 * The process that drains the queue has a clock a week ahead. The store would reject it, so its
 * writes omit the time.
 */
const isDrain = NAME === 'drain';

const shared: SagaStore = {
  ...store,
  write: (key, value, expected, { nowMs, ...bounds }) =>
    store.write(key, value, expected, isDrain ? bounds : { nowMs, ...bounds }),
};

function onError(error: unknown): void {
  if (!isOutage(error)) console.error(String(error));
}

function onRejected(reason: string, times: number): void {
  console.log(`rejected ${reason} ${times}`);
}

const host = createSagaHost({
  sagas: askingModels([...sagasOf(RELEASE as Release), errand]),
  keys: process.env['SAGA_KEYS'],
  name: info.name,
  store: shared,
  limits: { turnBudget: 4_000, hookTimeout: 40_000, lease: 5_000 },
  answerers: { model: 'accept' },
  // Half of the calls have a key. No purchase of the others may be made twice, either.
  anonymous: { starts: 'accept', tasks: 'accept', resumableRequests: 'accept' },
  starts: { unkeyed: 'handshake' },
  testing: { clock: () => Date.now() + Number(CLOCK_OFFSET), environment: 'production' },
  hooks: {
    onSuspended: ({ sagaId, turn, cancelToken }: SuspendedSagaFacts) =>
      queue('/queue/suspended', { sagaId, turn, cancelToken }),
    onSettled: ({ saga, sagaId, uncompensated }) =>
      queue('/queue/settled', {
        sagaId,
        uncompensated: labelsOf(uncompensated, `${saga}:${sagaId}`),
      }),
    onReject: ({ reason, suppressed }) => onRejected(reason, 1 + suppressed),
    onTurn: () => undefined,
    onError,
  },
});

/** A session ID contains the name of its process, so that the proxy can route requests. */
const makeSessionId = (): string => `${NAME}.${crypto.randomUUID()}`;

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

/** Handles deliveries of the queue. The proxy does not forward this path. */
async function cancel(request: Request): Promise<Response> {
  const { cancelToken } = (await request.json()) as { readonly cancelToken: string };
  try {
    const turn = await host.cancel(cancelToken);
    if (turn.status !== 'failed') return Response.json({ status: turn.status });
    const purchase = `${turn.saga}:${turn.sagaId}`;
    const compensated = labelsOf(turn.compensated, purchase);
    return Response.json({
      status: 'failed',
      compensated,
      uncompensated: labelsOf(turn.uncompensated, purchase),
    });
  } catch (error) {
    if (error instanceof TokenRefused && error.reason !== 'not_yet_valid')
      return Response.json({ status: 'refused' });
    // The saga has not ended, another process runs it, or the token is of a turn of the drain, and
    // valid a minute later: the message must be delivered again.
    return Response.json({ status: 'later', reason: String(error) });
  }
}

const paths: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
  '/mcp': (request) => stateless.fetch(request),
  '/sessions/2': sessions(async (options) => {
    const transport = new WebStandardStreamableHTTPServerTransport(options);
    await version2().connect(transport);
    return transport;
  }, makeSessionId),
  '/sessions/1': sessions(async (options) => {
    const transport = new HttpV1(options);
    await version1().connect(transport);
    return transport;
  }, makeSessionId),
  '/cancel': cancel,
};

const outside = await startOutside({
  store: shared,
  settle: (settled) => queue('/queue/settled', settled),
  onError,
  onReject: onRejected,
});

const server = serve({
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    const respond = paths[pathname] ?? outside(pathname);
    return (await respond?.(request)) ?? new Response(null, { status: 404 });
  },
  hostname: '127.0.0.1',
  port: 0,
  silent: true,
});
await server.ready();
console.log(server.url);
// The parent process has died.
process.stdin.once('close', () => process.exit()).resume();
