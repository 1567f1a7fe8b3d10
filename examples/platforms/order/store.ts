/** Store of a server in Redis or PostgreSQL, for Node, Bun, and Deno. */
import { redisStore } from '@mcp-saga/redis';
import type { SagaStore } from '@mcp-saga/server';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { createClient } from 'redis';

/**
 * Opens the store that all processes share: Redis at `REDIS_URL`, or PostgreSQL at `DATABASE_URL`.
 * Without either, the server has no store, and each process rejects sagas that need one.
 */
export async function openStore(environment: {
  readonly [name: string]: string | undefined;
}): Promise<{ readonly store?: SagaStore }> {
  const { REDIS_URL, DATABASE_URL } = environment;
  if (REDIS_URL) {
    // While Redis is unreachable, calls fail at once instead of waiting in the client.
    const client = createClient({ url: REDIS_URL, disableOfflineQueue: true });
    client.on('error', logError);
    await client.connect();
    // A process that stops does not wait for an idle connection.
    client.unref();
    return { store: redisStore(client) };
  }
  if (DATABASE_URL) {
    const pool = new Pool({ connectionString: DATABASE_URL, allowExitOnIdle: true });
    pool.on('error', logError);
    const store = postgresStore(pool);
    await store.createTables();
    return { store };
  }
  return {};
}

/** Without a listener, a lost connection ends the process. */
function logError(error: Error): void {
  console.error(error.message);
}
