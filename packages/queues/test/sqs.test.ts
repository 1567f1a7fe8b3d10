import { sqsHandler, sqsQueue, type SqsLike } from '@mcp-saga/queues';
import type { DeliveryResult } from '@mcp-saga/server/stores';
import { queueConformance } from '@mcp-saga/testing/stores';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { startSqs, type SqsServer } from './support/sqs.ts';

describe('a queue of Amazon SQS', () => {
  let server: SqsServer;
  beforeAll(async () => {
    server = await startSqs();
  });
  afterAll(() => server.close());

  for (const { title, run } of queueConformance(() => server.make())) it(title, run);

  const message = { sagaId: 's', turn: 1, token: 'sealed' };
  const ended: DeliveryResult = { status: 'ended', sagaId: 's' };

  it('sends a message again in steps of 15 minutes until its due time', async () => {
    const { queue, consume, now, pass, delays } = await server.make();
    await consume(async () => ended);
    await queue.send(message, now() + 2_000_500);
    await pass(3_600_000);
    expect(delays).toEqual([900, 900, 201]);
  });

  it('reports the limit for a message that SQS does not store', async () => {
    const { queue, now, service } = await server.make();
    const long = { ...message, token: 'x'.repeat(1_048_576) };
    await expect(queue.send(long, now())).rejects.toMatchObject({
      code: 'queue_message_too_large',
      message: expect.stringContaining('1048576'),
    });
    const spare = JSON.stringify({ ...message, token: '', at: now() }).length;
    await queue.send({ ...message, token: 'x'.repeat(1_048_576 - spare) }, now());
    await expect(
      queue.send({ ...message, token: 'x'.repeat(1_048_577 - spare) }, now()),
    ).rejects.toThrow();
    expect(service.stored).toHaveLength(1);
  });

  it('reports each rejected message of a batch, and each foreign message', async () => {
    const { queue, now } = await server.make();
    const handler = sqsHandler(
      {
        deliver: async ({ turn }) => {
          if (turn === 2) throw new Error('busy');
          return ended;
        },
      },
      queue,
      { clock: now },
    );
    const bodies = [
      JSON.stringify({ ...message, at: now() }),
      JSON.stringify({ ...message, turn: 2, at: now() }),
      'no JSON',
      'null',
      JSON.stringify({ ...message, turn: '1' }),
      JSON.stringify({ ...message, token: undefined }),
      JSON.stringify(message),
    ];
    const records = bodies.map((body, index) => ({ messageId: `m${index}`, body }));
    const { batchItemFailures } = await handler({ Records: records });
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual([
      'm1',
      'm2',
      'm3',
      'm4',
      'm5',
    ]);
  });

  it('reports an early message that could not be sent again', async () => {
    const { now } = await server.make();
    const handler = sqsHandler(
      { deliver: () => Promise.reject(new Error('early')) },
      { send: () => Promise.reject(new Error('throttled')) },
      { clock: now },
    );
    const body = JSON.stringify({ ...message, at: now() + 1 });
    expect(await handler({ Records: [{ messageId: 'm', body }] })).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm' }],
    });
  });

  it('rejects FIFO queues, other clients, and unknown options', () => {
    const { client, queueUrl } = server;
    expect(() => sqsQueue(client, { queueUrl: `${queueUrl}.fifo` })).toThrow('FIFO');
    expect(() => sqsQueue({} as SqsLike, { queueUrl })).toThrow('new SQS()');
    expect(() => sqsQueue(client, { queueUrl: '' })).toThrow('sqsQueue.queueUrl');
    expect(() => sqsQueue(client, { queueUrl, url: 'x' } as never)).toThrow("has no option 'url'");
  });

  it('is compatible with the types of Lambda', () => {
    type Handler = ReturnType<typeof sqsHandler>;
    expectTypeOf<SQSEvent>().toExtend<Parameters<Handler>[0]>();
    expectTypeOf<Awaited<ReturnType<Handler>>>().toExtend<SQSBatchResponse>();
  });
});
