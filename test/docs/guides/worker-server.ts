import { bullmqProcessor, bullmqQueue, bullmqWorkerOptions, redisStore } from '@mcp-saga/redis';
import { serveSagas } from '@mcp-saga/server/serve';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { serve } from 'srvx';
import { release } from './approvals.ts';

const { REDIS_URL = 'redis://127.0.0.1:6379', PUBLIC_URL = 'http://127.0.0.1:3000' } = process.env;
const client = new Redis(REDIS_URL, { enableOfflineQueue: false });
client.on('error', (error) => console.error(error.message));
const connection = { url: REDIS_URL, maxRetriesPerRequest: null };
const jobs = new Queue('sagas', { connection });

const sagas = serveSagas({
  name: 'releases',
  version: '1.0.0',
  sagas: [release], // the keys are those of SAGA_KEYS, in every process
  store: redisStore(client),
  queue: bullmqQueue(jobs),
  url: PUBLIC_URL, // links lead to the proxy, and so to any process
  http: { allowedHosts: [new URL(PUBLIC_URL).hostname] },
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1', // on PORT, or 3000
  gracefulShutdown: false, // see below
});
await server.ready(); // throws if the port is taken: such a process must not work for the queue
const options = { ...bullmqWorkerOptions, connection, concurrency: 10 };
const worker = new Worker('sagas', bullmqProcessor(sagas), options);

async function stop() {
  await Promise.all([server.close(), worker.close()]); // finishes requests and deliveries that have begun
  await jobs.close();
  await client.quit();
  process.exit();
}
process.once('SIGTERM', () => void stop());
