/**
 * Server process: serves the sagas over HTTP, with sessions of both SDKs and without. It may be
 * killed at any time.
 */
import { createSagaHost, TokenRefused, type QueueMessage, type SagaStore } from '@mcp-saga/server';
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

/** Tells the queue or the operator, with retries while the provider is down, which has both. */
async function tell(path: string, body: object): Promise<void> {
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

/** Offset of the clock. The drain moves its clock on to the times of its messages. */
let offset = Number(CLOCK_OFFSET);

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
  testing: { clock: () => Date.now() + offset, environment: 'production' },
  // Delivers nothing before the end of the run.
  queue: {
    send: (message, at) => tell('/queue/sent', { ...message, at }),
    remove: (sagaId) => tell('/queue/removed', { sagaId }),
  },
  hooks: {
    onSettled: ({ saga, sagaId, uncompensated }) =>
      tell('/settled', { sagaId, uncompensated: labelsOf(uncompensated, `${saga}:${sagaId}`) }),
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

/** A message of the queue, and the time to deliver it, in milliseconds since the epoch. */
interface Delivered {
  readonly message: QueueMessage;
  readonly now: number;
}

/** Handles deliveries of the queue to the drain. The proxy does not forward this path. */
async function deliver(request: Request): Promise<Response> {
  const { message, now } = (await request.json()) as Delivered;
  offset = Math.max(offset, now - Date.now());
  try {
    return Response.json(await host.deliver(message));
  } catch (error) {
    if (error instanceof TokenRefused)
      return Response.json({ status: 'refused', reason: error.reason });
    // The message must be delivered again.
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
  '/deliver': deliver,
};

const outside = await startOutside({
  store: shared,
  settle: (settled) => tell('/settled', settled),
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
