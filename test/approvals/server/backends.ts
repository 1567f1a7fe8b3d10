/** Store and queue of a server process, which it shares with the other processes. */
import { pgBossHandler, pgBossQueue } from '@mcp-saga/queues';
import { bullmqProcessor, bullmqQueue, bullmqWorkerOptions, redisStore } from '@mcp-saga/redis';
import type { QueueMessage, SagaQueue, SagaStore } from '@mcp-saga/server';
import type { SagaServer } from '@mcp-saga/server/serve';
import { postgresStore } from '@mcp-saga/sql';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { PgBoss } from 'pg-boss';
import { queueName } from '../ledger.ts';
import { patient } from '../../support/patience.ts';

export interface Backend {
  readonly store: SagaStore;
  readonly queue: SagaQueue;
  /** Starts to deliver messages. */
  readonly startWorker: (sagas: SagaServer) => Promise<unknown>;
}

const logError = ({ message }: Error): void => console.error(message);

export function openRedis(port: number): Backend {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  return {
    store: redisStore(new Redis(connection), patient),
    queue: bullmqQueue(new Queue(queueName, { connection })),
    startWorker: (sagas) => {
      const worker = new Worker<QueueMessage>(queueName, bullmqProcessor(sagas), {
        ...bullmqWorkerOptions,
        connection,
        concurrency: 10,
        // The jobs of killed processes start again after their leases.
        lockDuration: 6_000,
        stalledInterval: 1_000,
      });
      worker.on('error', logError);
      return worker.waitUntilReady();
    },
  };
}

export async function openPostgres(connectionString: string): Promise<Backend> {
  const pool = new Pool({ connectionString });
  pool.on('error', logError);
  const store = postgresStore(pool, patient);
  // The jobs of killed processes start again soon.
  const boss = new PgBoss({
    connectionString,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
  });
  boss.on('error', logError);
  await Promise.all([store.createTables(), boss.start()]);
  await boss.createQueue(queueName);
  return {
    store,
    queue: pgBossQueue(boss, { queue: queueName }),
    startWorker: (sagas) =>
      boss.work(queueName, { pollingIntervalSeconds: 0.5, batchSize: 10 }, pgBossHandler(sagas)),
  };
}
