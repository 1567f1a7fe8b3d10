import type { QueueMessage } from '@mcp-saga/server';
import type { DeliveryResult } from '@mcp-saga/server/stores';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  currentSigningKey,
  nextSigningKey,
  requestOf,
  sign,
  token,
} from '../../packages/queues/test/support/qstash.ts';
import { describeWithPostgres, startPostgres } from '../support/postgres-server.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';

const message = { sagaId: 'saga', turn: 1, token: 'sealed' };

/** A host that takes one message, and the promise of it. */
function receiver() {
  let receive: ((given: QueueMessage) => void) | undefined;
  const received = new Promise<QueueMessage>((resolve) => {
    receive = resolve;
  });
  const deliver = async (given: QueueMessage): Promise<DeliveryResult> => {
    receive?.(given);
    return { status: 'ended', sagaId: given.sagaId };
  };
  return { deliver, received };
}

/** Sets variables of the environment for one test. */
function setEnvironment(variables: { readonly [name: string]: string }): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describeWithRedis('the page on queue adapters, with Redis', () => {
  it('the page on queue adapters shows a queue of BullMQ', async () => {
    const server = await startRedis();
    onTestFinished(() => server.kill());
    setEnvironment({ REDIS_URL: server.url });
    const { queue, sagas, startWorker } = await import('./queue-adapters/bullmq.ts');
    const { received, ...host } = receiver();
    const worker = startWorker(host);
    await queue.send(message, Date.now());
    expect(await received).toEqual(message);
    await worker.close();
    await sagas.close();
  });
});

describeWithPostgres('the page on queue adapters, with PostgreSQL', () => {
  it('the page on queue adapters shows a queue of pg-boss', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    setEnvironment({ DATABASE_URL: server.url });
    const { queue, boss, startWorker } = await import('./queue-adapters/pg-boss.ts');
    const { received, ...host } = receiver();
    await queue.send(message, Date.now());
    await startWorker(host);
    expect(await received).toEqual(message);
    await boss.stop();
  });
});

describe('the page on queue adapters', () => {
  it('shows the Lambda handler of SQS', async () => {
    setEnvironment({
      QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/123456789012/sagas',
      AWS_REGION: 'eu-west-1',
    });
    const { handlerOf } = await import('./queue-adapters/sqs.ts');
    const { received, ...host } = receiver();
    const records = [{ messageId: 'm', body: JSON.stringify({ ...message, at: 0 }) }];
    expect(await handlerOf(host)({ Records: records })).toEqual({ batchItemFailures: [] });
    expect(await received).toEqual(message);
  });

  it('shows the receiving side of QStash', async () => {
    setEnvironment({
      QSTASH_TOKEN: token,
      QSTASH_CURRENT_SIGNING_KEY: currentSigningKey,
      QSTASH_NEXT_SIGNING_KEY: nextSigningKey,
    });
    const { wake } = await import('./queue-adapters/qstash.ts');
    const { received, ...host } = receiver();
    const body = JSON.stringify(message);
    expect((await wake(host, requestOf(body, await sign(body, Date.now())))).status).toBe(204);
    expect(await received).toEqual(message);
    expect((await wake(host, requestOf(body, undefined))).status).toBe(401);
  });
});
