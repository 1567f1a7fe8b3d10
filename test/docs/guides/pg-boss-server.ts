import { pgBossHandler, pgBossQueue } from '@mcp-saga/queues';
import { serveSagas } from '@mcp-saga/server/serve';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { PgBoss } from 'pg-boss';
import { serve } from 'srvx';
import { release } from './approvals.ts';

const { DATABASE_URL = '', PUBLIC_URL = 'http://127.0.0.1:3000' } = process.env;
const pool = new Pool({ connectionString: DATABASE_URL });
pool.on('error', (error) => console.error(error.message));
const store = postgresStore(pool);
await store.createTables();

const boss = new PgBoss(DATABASE_URL);
boss.on('error', (error) => console.error(error.message));
await boss.start();
await boss.createQueue('sagas');

const sagas = serveSagas({
  name: 'releases',
  version: '1.0.0',
  sagas: [release], // the keys are those of SAGA_KEYS, in every process
  store,
  queue: pgBossQueue(boss),
  url: PUBLIC_URL, // links lead to the proxy, and so to any process
  http: { allowedHosts: [new URL(PUBLIC_URL).hostname] },
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1', // on PORT, or 3000
  gracefulShutdown: false, // see below
});
await server.ready(); // throws if the port is taken: such a process must not work for the queue
await boss.work('sagas', { batchSize: 10 }, pgBossHandler(sagas));

async function stop() {
  await Promise.all([server.close(), boss.stop()]); // finishes requests and deliveries that have begun
  await pool.end();
  process.exit();
}
process.once('SIGTERM', () => void stop());
