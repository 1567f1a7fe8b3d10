/**
 * Host of the sagas that people and other systems answer. All processes share its store and its
 * queue.
 */
import { bullmqProcessor, bullmqQueue, bullmqWorkerOptions } from '@mcp-saga/redis';
import {
  createSagaHost,
  TokenRefused,
  type QueueMessage,
  type SagaStore,
  type SagaTurn,
} from '@mcp-saga/server';
import { Queue, Worker } from 'bullmq';
import { labelsOf } from '../provider/label.ts';
import type { Settled } from '../provider/ledger.ts';
import { queueName } from '../outside/times.ts';
import { hostTime, outsideSagas, roles } from './outside-sagas.ts';

/** Parts that the host shares with other processes. */
export interface OutsideParts {
  readonly store: SagaStore;
  readonly settle: (settled: Settled) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly onReject: (reason: string, times: number) => void;
}

type Serve = (request: Request) => Promise<Response>;

const caller = { principal: { subject: 'carl', client: 'app' } };

/**
 * Starts the host and its worker. Returns the handler for a path: calls of the sagas, their links,
 * or their webhooks.
 */
export async function startOutside(
  parts: OutsideParts,
): Promise<(path: string) => Serve | undefined> {
  const { OUTSIDE_URL = '', REDIS_URL = '', SAGA_KEYS } = process.env;
  const connection = {
    host: '127.0.0.1',
    port: Number(new URL(REDIS_URL).port),
    maxRetriesPerRequest: null,
  };
  const queue = new Queue<QueueMessage>(queueName, { connection });
  // The test restarts Redis: the client reconnects by itself.
  queue.on('error', () => undefined);
  const host = createSagaHost({
    sagas: [...outsideSagas],
    keys: SAGA_KEYS,
    name: 'outside',
    store: parts.store,
    queue: bullmqQueue(queue),
    url: OUTSIDE_URL,
    webhooks: { bank: ({ headers }) => headers.get('signature') === 'bank' },
    auth: { mayAnswer: ({ subject }, by) => Object(by).role === roles[subject] },
    limits: { turnBudget: 4_000, hookTimeout: 40_000, maxHold: 0, lease: 5_000 },
    testing: { clock: hostTime, environment: 'production' },
    hooks: {
      onSettled: ({ saga, sagaId, uncompensated }) =>
        parts.settle({ sagaId, uncompensated: labelsOf(uncompensated, `${saga}:${sagaId}`) }),
      onReject: ({ reason, suppressed }) => parts.onReject(reason, 1 + suppressed),
      onTurn: () => undefined,
      onWarning: () => undefined,
      onError: parts.onError,
    },
  });
  const worker = new Worker<QueueMessage>(queueName, bullmqProcessor(host), {
    ...bullmqWorkerOptions,
    connection,
    concurrency: 8,
    // The jobs of a killed process start again when their locks expire.
    lockDuration: 6_000,
    stalledInterval: 1_000,
  });
  worker.on('error', () => undefined);
  await worker.waitUntilReady();

  const turnOf = async (run: () => Promise<SagaTurn>): Promise<Response> => {
    try {
      const turn = await run();
      const { status, saga, sagaId } = turn;
      return Response.json({
        status,
        saga,
        sagaId,
        ...(status === 'suspended' && { token: turn.token }),
      });
    } catch (error) {
      if (error instanceof TokenRefused)
        return Response.json({ status: 'refused', reason: error.reason });
      return Response.json({ status: 'later' }, { status: 503 });
    }
  };
  const answer: Serve = (request) => {
    const [, subject] = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    return host.answer(
      request,
      subject === undefined ? {} : { caller: { principal: { subject, client: 'browser' } } },
    );
  };
  const calls: Readonly<Record<string, Serve>> = {
    '/outside/start': async (request) => {
      const { saga, call } = (await request.json()) as {
        readonly saga: string;
        readonly call: string;
      };
      return await turnOf(() => host.start(saga, { call }, { caller }));
    },
    '/outside/resume': async (request) => {
      const { token } = (await request.json()) as { readonly token: string };
      return await turnOf(() => host.resume(token, [], { caller }));
    },
  };
  return (path) => (path.startsWith('/saga/') ? answer : calls[path]);
}
