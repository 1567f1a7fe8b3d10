import { setTimeout } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Pool } from 'pg';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { queueName } from './ledger.ts';

/** Databases of a fleet, outside of its processes. */
export interface Backend {
  /** Environment of the server processes. */
  readonly environment: { readonly [name: string]: string };
  /** Lets the time of all waiting messages pass. */
  passWaits(): Promise<void>;
  /** Lets the time pass that a queue waits for the processes of unfinished deliveries. */
  passDeliveries(): Promise<void>;
  /** Number of messages in the queue. */
  countMessages(): Promise<number>;
  close(): Promise<void>;
}

/** Store in Redis, and a queue of BullMQ. */
export async function startRedisBackend(): Promise<Backend> {
  const redis = await startRedis();
  const queue = new Queue(queueName, { connection: { host: '127.0.0.1', port: redis.port } });
  queue.on('error', () => undefined);
  return {
    environment: { REDIS_PORT: String(redis.port) },
    passWaits: async () => {
      const jobs = await queue.getDelayed();
      await Promise.all(
        // A job may have started meanwhile.
        jobs.map((job) => job.changeDelay(0).catch(() => undefined)),
      );
    },
    // The locks of the processes are short.
    passDeliveries: async () => undefined,
    countMessages: async () => {
      const counts = await queue.getJobCounts('delayed', 'waiting', 'active', 'prioritized');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    close: async () => {
      await queue.close();
      await redis.kill();
    },
  };
}

/** Store in PostgreSQL, and a queue of pg-boss. */
export async function startPostgresBackend(): Promise<Backend> {
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url, max: 1 });
  pool.on('error', () => undefined);
  const run = async (sql: string): Promise<readonly { readonly count?: string }[]> =>
    (await pool.query<{ readonly count?: string }>(sql, [queueName])).rows;
  const countConnections = async (): Promise<number> => {
    const { rows } = await pool.query<{ readonly count: string }>(
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
    );
    return Number(rows[0]?.count);
  };
  return {
    environment: { DATABASE_URL: server.url, REDIS_PORT: '' },
    passWaits: async () =>
      void (await run(
        "UPDATE pgboss.job SET start_after = now() WHERE name = $1 AND state < 'active'",
      )),
    passDeliveries: async () => {
      // The database may still take a job for a process that was killed.
      while ((await countConnections()) > 1) await setTimeout(10);
      await run(
        "UPDATE pgboss.job SET started_on = started_on - interval '1 hour' WHERE name = $1 AND state = 'active'",
      );
    },
    countMessages: async () => {
      const [row] = await run(
        "SELECT count(*) FROM pgboss.job WHERE name = $1 AND state <= 'active'",
      );
      return Number(row?.count);
    },
    close: async () => {
      await pool.end();
      await server.remove();
    },
  };
}
