/** Queues that wake sagas without their client: pg-boss, Amazon SQS, and QStash. */
export { QueueError, type QueueErrorCode } from './errors.ts';
export type { Receiver } from './queue-message.ts';
export {
  pgBossHandler,
  pgBossQueue,
  type PgBossJobLike,
  type PgBossJobOptions,
  type PgBossLike,
  type PgBossQueueOptions,
} from './pg-boss-queue.ts';
export {
  qstashQueue,
  receiveQstash,
  type QstashQueue,
  type QstashQueueOptions,
} from './qstash-queue.ts';
export {
  sqsHandler,
  sqsQueue,
  type SqsBatchResult,
  type SqsEventLike,
  type SqsLike,
  type SqsQueueOptions,
} from './sqs-queue.ts';
