import { Client } from 'pg';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';

/** Where the processes keep used tokens, tasks, and answers. Their queue is always in Redis. */
export type StoreKind = 'redis' | 'postgres';

/** The databases of a run. */
export interface Databases {
  /** What the server processes need to reach them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly redisPort: number;
  /** Kills the database of the store, or that of the queue, and restarts it from its log. */
  crash(): Promise<void>;
  /** Lets the database of the store answer nothing for a while. Connections stay open. */
  pause(ms: number): Promise<void>;
  /** Stops all databases, and removes their data. */
  end(): Promise<void>;
}

/** Starts the databases of a run. */
export async function startDatabases(store: StoreKind): Promise<Databases> {
  const redis = await startRedis({ persists: true });
  const crashRedis = async (): Promise<void> => {
    await redis.kill();
    await redis.restart();
  };
  if (store === 'redis')
    return {
      environment: { STORE: store, REDIS_URL: redis.url },
      redisPort: redis.port,
      crash: crashRedis,
      pause: (ms) => redis.pause(ms),
      end: () => redis.kill(),
    };
  const postgres = await startPostgres();
  let crashes = 0;
  return {
    environment: { STORE: store, REDIS_URL: redis.url, POSTGRES_URL: postgres.url },
    redisPort: redis.port,
    crash: async () => {
      crashes += 1;
      // The queue must survive as well.
      if (crashes % 3 === 0) {
        await crashRedis();
        return;
      }
      await postgres.kill();
      await postgres.restart();
    },
    pause: (ms) => lockTables(postgres.url, ms),
    end: async () => {
      await postgres.remove();
      await redis.kill();
    },
  };
}

/** Holds a lock on all tables of the store, so that each statement of a process waits. */
async function lockTables(connectionString: string, ms: number): Promise<void> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ tablename: string }>(
      "select tablename from pg_tables where tablename like 'mcp_saga%'",
    );
    await client.query('begin');
    for (const { tablename } of rows)
      await client.query(`lock table ${tablename} in access exclusive mode`);
    await new Promise((resolve) => setTimeout(resolve, ms));
    await client.query('commit');
  } finally {
    await client.end();
  }
}
