import { pgBossHandler, pgBossQueue, type Receiver } from '@mcp-saga/queues';
import { PgBoss } from 'pg-boss';

export const boss = new PgBoss(process.env['DATABASE_URL'] ?? '');
boss.on('error', (error) => console.error(error.message));
await boss.start();
await boss.createQueue('sagas');
export const queue = pgBossQueue(boss);

/** Delivers messages to the host of the queue. */
export async function startWorker(host: Receiver): Promise<void> {
  await boss.work('sagas', { batchSize: 10 }, pgBossHandler(host));
}
