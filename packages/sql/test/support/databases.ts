import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createClient } from '@libsql/client';
import { neon, neonConfig } from '@neondatabase/serverless';
import { postgresStore, sqliteStore, type SqlOptions, type SqlStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { startFakeNeon } from './fake-neon.ts';

/** A database, as two processes see it. */
export interface Connected {
  readonly stores: (options: SqlOptions) => readonly [SqlStore, SqlStore];
  /** Runs a statement. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly close: () => Promise<unknown>;
}

/** Two pools of `pg`. */
export async function connectPg(url: string): Promise<Connected> {
  const pools = [1, 2].map(() => new Pool({ connectionString: url, max: 20 }));
  const [one, other] = pools as [Pool, Pool];
  for (const pool of pools) pool.on('error', () => undefined);
  return {
    stores: (options) => [postgresStore(one, options), postgresStore(other, options)],
    run: (sql) => one.query(sql),
    close: () => Promise.all(pools.map((pool) => pool.end())),
  };
}

/** Two clients of Neon: each statement is an HTTP request. */
export async function connectNeon(url: string): Promise<Connected> {
  const { endpoint, close } = await startFakeNeon(url);
  neonConfig.fetchEndpoint = endpoint;
  const [one, other] = [
    neon('postgres://saga:x@db.neon.tech/saga'),
    neon('postgres://saga:x@db.neon.tech/saga'),
  ];
  return {
    stores: (options) => [postgresStore(one, options), postgresStore(other, options)],
    run: (sql) => one.query(sql),
    close,
  };
}

/** PostgreSQL in this process. It has one connection. */
export async function connectPglite(): Promise<Connected> {
  const database = await PGlite.create();
  return {
    stores: (options) => [postgresStore(database, options), postgresStore(database, options)],
    run: (sql) => database.query(sql),
    close: () => database.close(),
  };
}

/** Two clients of libSQL on one file. */
export async function connectLibsql(): Promise<Connected> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-libsql-'));
  const url = `file:${join(folder, 'sagas.db')}`;
  const [one, other] = [createClient({ url }), createClient({ url })];
  for (const client of [one, other]) {
    await client.executeMultiple('PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF');
  }
  await one.execute('PRAGMA journal_mode = WAL');
  return {
    stores: (options) => [sqliteStore(one, options), sqliteStore(other, options)],
    run: (sql) => one.execute(sql),
    close: async () => {
      one.close();
      other.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
