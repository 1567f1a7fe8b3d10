import { redisStore } from '@mcp-saga/redis';
import type { SagaStore } from '@mcp-saga/server';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { createClient } from 'redis';

/** What the processes of a fleet share. */
export interface OpenStore {
  readonly store: SagaStore;
  /** `true` for an error that a stopped or killed database causes. */
  readonly isOutage: (error: unknown) => boolean;
}

/** Connects this process to the store that its environment names. */
export async function openStore(): Promise<OpenStore> {
  const { STORE, REDIS_URL = '', POSTGRES_URL = '' } = process.env;
  return STORE === 'postgres' ? await openPostgres(POSTGRES_URL) : await openRedis(REDIS_URL);
}

async function openRedis(url: string): Promise<OpenStore> {
  const redis = createClient({ url, disableOfflineQueue: true });
  // The test restarts Redis: the client reconnects by itself.
  redis.on('error', () => undefined);
  await redis.connect();
  return {
    store: redisStore(redis),
    isOutage: (error) =>
      !redis.isReady && /guard cannot be reached|offline|Socket closed/.test(String(error)),
  };
}

async function openPostgres(connectionString: string): Promise<OpenStore> {
  const pool = new Pool({ connectionString, max: 12 });
  // The test restarts PostgreSQL: the pool connects again.
  pool.on('error', () => undefined);
  const store = postgresStore(pool);
  await createTables(() => store.createTables());
  return {
    store,
    isOutage: (error) =>
      /terminat|ECONN|connection|starting up|shutting down|recovery mode|cannot be reached/i.test(
        `${String(error)} ${String(Object(error).cause)}`,
      ),
  };
}

/** The database may be down while a process starts, or another process may create the tables. */
async function createTables(create: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await create();
      return;
    } catch (error) {
      if (tries === 600) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
