import { optionError } from '@mcp-saga/core/shared';
import type { PostgresClient, SqlOptions, SqlValue } from './sql-clients.ts';
import { databaseOf, tablesOf, type SendStatement } from './database.ts';
import { postgres } from './dialect.ts';
import { isMethod, unsupported } from './known-clients.ts';
import { migrationTexts } from './sql-schema.ts';
import { digestOf } from './sql-text.ts';
import { storeOf, type SqlStore } from './sql-store.ts';

/**
 * Creates the store of a host in one PostgreSQL database, for hosts of any number of processes.
 * Each change is one statement. A pool of `pg` prepares it; a pooler that loses prepared statements
 * gets it unprepared, so PgBouncer works. Leases go by the clock of the database. Later calls
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
  const send = async (sql: string, values: SqlValue[]): Promise<readonly unknown[]> =>
    rowsOf(await client.query(sql, values));
  return isPg(client) ? preparing(client, send) : send;
}

/** Reply of a client: rows, or an object with rows. */
type Reply = Awaited<ReturnType<PostgresClient['query']>>;

function rowsOf(reply: Reply): readonly unknown[] {
  return 'rows' in reply ? reply.rows : reply;
}

/** A pool or a client of `pg`, or of a library with the same classes: it can name a statement. */
interface PgClient {
  query(statement: {
    readonly name: string;
    readonly text: string;
    readonly values: SqlValue[];
  }): PromiseLike<Reply>;
}

function isPg(client: PostgresClient): client is PgClient & PostgresClient {
  const { totalCount, connectionParameters } = Object(client) as {
    readonly [member: string]: unknown;
  };
  const isPool = typeof totalCount === 'number';
  return isMethod(client, 'connect') && (isPool || typeof connectionParameters === 'object');
}

/**
 * Errors of a prepared statement before it runs, behind a pooler that exchanges connections between
 * statements: the statement does not exist, exists already, or was prepared for older tables.
 */
const unprepared: readonly unknown[] = ['26000', '42P05', '0A000'];

/**
 * Sends statements that the database prepares once for each connection: to parse and plan them
 * takes three quarters of the time of a turn. Sends all statements as they are after an error of a
 * pooler.
 */
function preparing(client: PgClient, send: SendStatement): SendStatement {
  const names = new Map<string, string>();
  let prepares = true;
  return async (text, values, isQuery) => {
    if (!prepares || !isQuery) return await send(text, values, isQuery);
    const name = names.get(text) ?? (await nameOf(text));
    names.set(text, name);
    try {
      return rowsOf(await client.query({ name, text, values }));
    } catch (error) {
      const { code } = Object(error) as { readonly code?: unknown };
      if (!unprepared.includes(code)) throw error;
      prepares = false;
      return await send(text, values, isQuery);
    }
  };
}

/** Name of a statement. Other text has another name, also in other processes at one pooler. */
async function nameOf(text: string): Promise<string> {
  return `mcp_saga_${(await digestOf(text)).slice(0, 16)}`;
}
