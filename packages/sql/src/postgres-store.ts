import { optionError } from '@mcp-saga/core/shared';
import type { PostgresClient, SqlOptions } from './sql-clients.ts';
import { databaseOf, tablesOf, type SendStatement } from './database.ts';
import { postgres } from './dialect.ts';
import { isMethod, unsupported } from './known-clients.ts';
import { migrationTexts } from './sql-schema.ts';
import { storeOf, type SqlStore } from './sql-store.ts';

/**
 * Creates the guard, the task store, and the mailbox of a host in one PostgreSQL database, for
 * hosts of any number of processes. Each change is one statement without session state, so
 * connection pools such as PgBouncer work. Leases go by the clock of the database. Later calls
 * remove expired rows, up to 200 at a time.
 * @param client - pool or client; the caller closes the client
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const pool: PostgresClient; // new Pool({ connectionString }) of `pg`
 *
 * const store = postgresStore(pool, { prefix: 'shop_saga_' });
 * await store.createTables();
 * ```
 */
export function postgresStore(client: PostgresClient, options: SqlOptions = {}): SqlStore {
  return storeOf(databaseOf('postgresStore', postgres, sender(client), options));
}

/**
 * Returns the SQL that creates the tables, for a migration tool: one text for each version of the
 * tables, oldest first. Each text can run again. {@link SqlStore.createTables} runs all of them.
 * @throws TypeError if the prefix is invalid
 * @example
 * ```ts
 * const [first] = postgresMigrations({ prefix: 'shop_saga_' });
 * ```
 */
export function postgresMigrations(options: Pick<SqlOptions, 'prefix'> = {}): readonly string[] {
  return migrationTexts(tablesOf(postgres, options));
}

function sender(client: PostgresClient): SendStatement {
  const fails = (name: string | undefined): never => {
    throw optionError(
      `${unsupported('PostgreSQL', client, name)} Pass a Pool of 'pg' or '@neondatabase/serverless', a PGlite, or an object with a method ` +
        'query(sql, values) that returns { rows }.',
    );
  };
  if (isMethod(client, 'getConnection')) fails("'mysql2'");
  if (!isMethod(client, 'query')) fails(isMethod(client, 'unsafe') ? "'postgres'" : undefined);
  // Of SQLite.
  if (isMethod(client, 'prepare')) fails(undefined);
  return async (sql, values) => {
    const result = await client.query(sql, values);
    return 'rows' in result ? result.rows : result;
  };
}
