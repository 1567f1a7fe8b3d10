import { pgBossHandler, pgBossQueue } from '@mcp-saga/queues';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { PgBoss } from 'pg-boss';
import type { Backend } from './backend.ts';
import { startTimeMachine } from './time-machine.ts';

/** Opens a store and a queue in PostgreSQL, for any number of server processes. */
export async function openPostgres(connectionString: string): Promise<Backend> {
  // Advances the clock of the example. A real server has none, and its pool has no `options`.
  const time = await startTimeMachine(connectionString);
  const pool = new Pool({ connectionString, options: time.options });
  pool.on('error', logError);
  const store = postgresStore(pool);
  await store.createTables();
  const boss = new PgBoss(connectionString);
  boss.on('error', logError);
  await boss.start();
  await boss.createQueue('sagas');
  return {
    ...time,
    store,
    queue: time.shift(pgBossQueue(boss, { queue: 'sagas' })),
    startWorker: (sagas) =>
      boss.work('sagas', { pollingIntervalSeconds: 0.5 }, pgBossHandler(sagas)),
  };
}

function logError({ message }: Error): void {
  console.error(message);
}
