import { SQS } from '@aws-sdk/client-sqs';
import { sqsHandler, sqsQueue, type Receiver } from '@mcp-saga/queues';

export const queue = sqsQueue(new SQS(), { queueUrl: process.env['QUEUE_URL'] ?? '' });

/** Makes the handler of the Lambda function that SQS triggers. */
export const handlerOf = (host: Receiver): ReturnType<typeof sqsHandler> => sqsHandler(host, queue);
