import { createServer } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SQS } from '@aws-sdk/client-sqs';
import { sqsHandler, sqsQueue } from '@mcp-saga/queues';
import type { QueueUnderTest } from '@mcp-saga/testing/stores';
import { startService, type PushService } from './push-service.ts';

/** A queue of SQS under test, and what else a test looks at. */
export interface SqsUnderTest extends QueueUnderTest {
  readonly service: PushService;
  readonly delays: readonly number[];
}

/** A server that speaks the JSON protocol of SQS. */
export interface SqsServer {
  readonly make: () => Promise<SqsUnderTest>;
  readonly client: SQS;
  readonly queueUrl: string;
  readonly close: () => Promise<void>;
}

const visibilityTimeout = 30_000;

/** Starts a fake of SQS, to which the client of AWS sends. Refuses what SQS refuses. */
export async function startSqs(): Promise<SqsServer> {
  let service: PushService | undefined;
  let delays: number[] = [];
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response
        .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
        .end(JSON.stringify(body));
    };
    const refuse = (message: string): void =>
      answer(400, { __type: 'com.amazonaws.sqs#InvalidParameterValue', message });
    void text(request).then((body) => {
      const { headers } = request;
      if (headers['x-amz-target'] !== 'AmazonSQS.SendMessage') return refuse('Unknown operation.');
      if (headers['content-type'] !== 'application/x-amz-json-1.0')
        return refuse('Unknown content type.');
      const input = JSON.parse(body) as { [name: string]: unknown };
      const { QueueUrl: url, MessageBody: message, DelaySeconds: delay, ...more } = input;
      if (url !== queueUrl || Object.keys(more).length > 0) return refuse('Unknown parameter.');
      if (typeof message !== 'string' || message.length > 1_048_576) return refuse('Wrong body.');
      if (typeof delay !== 'number' || !Number.isInteger(delay) || delay < 0 || delay > 900) {
        return refuse('Value for parameter DelaySeconds is invalid.');
      }
      delays.push(delay);
      const at = (service?.now() ?? 0) + delay * 1_000;
      return answer(200, { MessageId: service?.store({ label: '', body: message, at }) });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const endpoint = `http://127.0.0.1:${address.port}`;
  const queueUrl = `${endpoint}/123456789012/sagas`;
  const client = new SQS({
    endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    // The fake has no MD5 of bodies.
    md5: false,
  });
  const make = async (): Promise<SqsUnderTest> => {
    let handler: ReturnType<typeof sqsHandler> | undefined;
    delays = [];
    const started = startService({
      push: async ({ id, body }) => {
        const { batchItemFailures } = (await handler?.({ Records: [{ messageId: id, body }] })) ?? {
          batchItemFailures: [{ itemIdentifier: id }],
        };
        return !batchItemFailures.some(({ itemIdentifier }) => itemIdentifier === id);
      },
      retryAfter: () => visibilityTimeout,
    });
    service = started;
    const clock = started.now;
    const queue = sqsQueue(client, { queueUrl, clock });
    return {
      service: started,
      delays,
      queue,
      elsewhere: sqsQueue(client, { queueUrl, clock }),
      now: clock,
      pass: started.pass,
      consume: async (deliver) => {
        handler = sqsHandler({ deliver }, queue, { clock });
        return {
          kill: async () => {
            handler = undefined;
            started.kill();
          },
        };
      },
    };
  };
  return {
    make,
    client,
    queueUrl,
    close: async () => {
      client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
