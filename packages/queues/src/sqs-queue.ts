import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { SagaQueue } from '@mcp-saga/server/stores';
import { assertText, deliver, fromBody, toBody, type Receiver } from './queue-message.ts';

/** Required method of an `SQS` of `@aws-sdk/client-sqs`. */
export interface SqsLike {
  sendMessage(input: {
    readonly QueueUrl: string;
    readonly MessageBody: string;
    readonly DelaySeconds: number;
  }): Promise<unknown>;
}

/** Options of {@link sqsQueue}. */
export interface SqsQueueOptions {
  /** URL of a standard queue. FIFO queues cannot delay single messages. */
  readonly queueUrl: string;
  /** Returns the time, in milliseconds since the epoch. @default Date.now */
  readonly clock?: () => number;
}

/** Event of a Lambda function with an SQS trigger. */
export interface SqsEventLike {
  readonly Records: readonly { readonly messageId: string; readonly body: string }[];
}

/** Response of a Lambda function with `ReportBatchItemFailures`. */
export interface SqsBatchResult {
  readonly batchItemFailures: { itemIdentifier: string }[];
}

const handlerOptions: NamesOf<Pick<SqsQueueOptions, 'clock'>> = { clock: true };
const queueOptions: NamesOf<SqsQueueOptions> = { queueUrl: true, ...handlerOptions };

/** Limit of Amazon SQS, in seconds. */
const maxDelay = 900;
/** Limit of Amazon SQS, in bytes. The limit of a queue (`MaximumMessageSize`) may be lower. */
const maxBytes = 1_048_576;

/**
 * Creates a queue of Amazon SQS. SQS delays a message by at most 15 minutes: {@link sqsHandler}
 * sends an early message again until it is due.
 * @param client - `SQS` of `@aws-sdk/client-sqs`, version 3
 * @throws TypeError if the client or an option is invalid, or the queue is a FIFO queue
 * @example
 * ```ts
 * declare const client: SqsLike; // new SQS()
 *
 * const queue = sqsQueue(client, { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/sagas' });
 * ```
 */
export function sqsQueue(client: SqsLike, options: SqsQueueOptions): SagaQueue {
  rejectUnknownOption('sqsQueue', options, queueOptions);
  const { queueUrl, clock = Date.now } = options;
  assertText('sqsQueue.queueUrl', queueUrl);
  if (queueUrl.endsWith('.fifo')) {
    throw optionError(
      'sqsQueue.queueUrl: FIFO queues cannot delay single messages. Use a standard queue.',
    );
  }
  if (typeof (Object(client) as { readonly sendMessage?: unknown }).sendMessage !== 'function') {
    throw optionError(
      "sqsQueue: expected an SQS of '@aws-sdk/client-sqs': new SQS(), not new SQSClient().",
    );
  }
  return {
    send: async (message, at) => {
      const delay = Math.max(0, Math.ceil((at - clock()) / 1_000));
      await client.sendMessage({
        QueueUrl: queueUrl,
        MessageBody: toBody({ ...message, at }, maxBytes, 'Amazon SQS'),
        DelaySeconds: Math.min(maxDelay, delay),
      });
    },
  };
}

/**
 * Creates a Lambda handler for messages of an SQS queue. Passes due messages to a host, and sends
 * early messages again. Enable `ReportBatchItemFailures` for the trigger: the handler reports each
 * rejected message, and SQS repeats the delivery after the visibility timeout.
 * @param queue - source of the messages
 * @example
 * ```ts
 * declare const host: Receiver; // createSagaHost({ queue, … })
 * declare const queue: ReturnType<typeof sqsQueue>; // sqsQueue(new SQS(), { queueUrl })
 *
 * const handler = sqsHandler(host, queue);
 * ```
 */
export function sqsHandler(
  host: Receiver,
  queue: Pick<SagaQueue, 'send'>,
  options: Pick<SqsQueueOptions, 'clock'> = {},
): (event: SqsEventLike) => Promise<SqsBatchResult> {
  rejectUnknownOption('sqsHandler', options, handlerOptions);
  const { clock = Date.now } = options;
  const receive = async (body: string): Promise<void> => {
    const { at, ...message } = fromBody(body);
    if (typeof at === 'number' && at > clock()) await queue.send(message, at);
    else await deliver(host, message);
  };
  return async ({ Records: records }) => {
    const received = await Promise.allSettled(records.map(async ({ body }) => await receive(body)));
    const rejected = records.filter((_, index) => received[index]?.status === 'rejected');
    return { batchItemFailures: rejected.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}
