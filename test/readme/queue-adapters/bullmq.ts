import { bullmqProcessor, bullmqQueue, bullmqWorkerOptions } from '@mcp-saga/redis';
import type { SagaHost } from '@mcp-saga/server';
import { Queue, Worker } from 'bullmq';

const connection = { url: process.env['REDIS_URL'] ?? '', maxRetriesPerRequest: null };
export const sagas = new Queue('sagas', { connection });
export const queue = bullmqQueue(sagas);

/** Delivers messages to the host of the queue. */
export function startWorker(host: Pick<SagaHost, 'deliver'>): Worker {
  return new Worker('sagas', bullmqProcessor(host), {
    ...bullmqWorkerOptions,
    connection,
    concurrency: 10,
  });
}
