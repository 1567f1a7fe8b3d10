import { randomUUID } from 'node:crypto';
import { createClient as createLibsql } from '@libsql/client';
import { alarmQueue, durableObjectStore } from '@mcp-saga/cloudflare';
import { pgBossHandler, pgBossQueue } from '@mcp-saga/queues';
import { bullmqProcessor, bullmqQueue, bullmqWorkerOptions, redisStore } from '@mcp-saga/redis';
import {
  memoryQueue,
  memoryStore,
  type QueueMessage,
  type SagaHost,
  type SagaQueue,
  type SagaStore,
} from '@mcp-saga/server';
import { postgresStore, sqliteStore, type SqlStore } from '@mcp-saga/sql';
import { Queue, Worker } from 'bullmq';
import { Pool } from 'pg';
import { PgBoss } from 'pg-boss';
import { createClient } from 'redis';
import { serve } from 'srvx';
import type { StoreName } from '../databases.ts';
import { pollingMs } from '../polling.ts';
import { d1At, deliverTo, objectsAt } from './bindings.ts';

/** Stores of a server. */
export interface OpenStore {
  readonly store: SagaStore;
  /** Makes a database round trip that does no work. Undefined for stores without a database. */
  readonly ping?: () => Promise<unknown>;
}

/** Stores and queue of a server. */
export interface OpenQueue {
  readonly queue: SagaQueue;
  /** Starts the delivery of messages. */
  readonly startWorker: (host: Pick<SagaHost, 'deliver'>) => Promise<unknown>;
}

const { BENCH_STORE = '', BENCH_URL = '' } = process.env;

/** Opens the store that the parent process chose. */
export async function openStore(): Promise<OpenStore> {
  switch (BENCH_STORE as StoreName) {
    case 'memory':
      return { store: memoryStore() };
    case 'redis': {
      const client = createClient({ url: BENCH_URL, disableOfflineQueue: true });
      client.on('error', fail);
      await client.connect();
      return { store: redisStore(client), ping: () => client.ping() };
    }
    case 'postgres': {
      const pool = new Pool({ connectionString: BENCH_URL, max: 20 });
      pool.on('error', fail);
      return await withTables(postgresStore(pool), () => pool.query('SELECT 1'));
    }
    case 'sqlite': {
      const client = createLibsql({ url: BENCH_URL });
      await client.executeMultiple('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
      return await withTables(sqliteStore(client), () => client.execute('SELECT 1'));
    }
    case 'd1': {
      const database = d1At(BENCH_URL);
      return await withTables(
        sqliteStore(database),
        async () => await database.prepare('SELECT 1').bind().all(),
      );
    }
    case 'durable-objects': {
      const store = durableObjectStore(objectsAt(BENCH_URL));
      return { store, ping: async () => await store.read({ group: 'none', name: 'none' }) };
    }
  }
}

async function withTables(store: SqlStore, ping: () => Promise<unknown>): Promise<OpenStore> {
  await store.createTables();
  return { store, ping };
}

/** Opens the queue for the selected store. */
export async function openQueue(): Promise<OpenQueue> {
  const name = `sagas-${randomUUID()}`;
  if (BENCH_STORE === 'redis') {
    const { hostname: host, port } = new URL(BENCH_URL);
    const connection = { host, port: Number(port), maxRetriesPerRequest: null };
    return {
      queue: bullmqQueue(new Queue(name, { connection })),
      startWorker: (receiver) =>
        new Worker<QueueMessage>(name, bullmqProcessor(receiver), {
          ...bullmqWorkerOptions,
          connection,
        }).waitUntilReady(),
    };
  }
  if (BENCH_STORE === 'postgres') {
    const boss = new PgBoss(BENCH_URL);
    boss.on('error', fail);
    await boss.start();
    await boss.createQueue(name);
    return {
      queue: pgBossQueue(boss, { queue: name }),
      startWorker: (receiver) =>
        boss.work(name, { pollingIntervalSeconds: pollingMs / 1000 }, pgBossHandler(receiver)),
    };
  }
  if (BENCH_STORE === 'durable-objects') {
    return {
      queue: alarmQueue(objectsAt(BENCH_URL)),
      startWorker: async (receiver) => {
        const server = serve({
          fetch: async (request) =>
            Response.json(await receiver.deliver((await request.json()) as QueueMessage)),
          hostname: '127.0.0.1',
          port: 0,
          silent: true,
        });
        await server.ready();
        await deliverTo(server.url ?? '', BENCH_URL);
      },
    };
  }
  return { queue: memoryQueue(), startWorker: async () => undefined };
}

function fail(error: unknown): never {
  throw error;
}
