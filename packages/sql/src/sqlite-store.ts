import { optionError } from '@mcp-saga/core/shared';
import type {
  D1Like,
  LibsqlLike,
  PreparingSqlite,
  SqliteClient,
  SqlOptions,
  SqlValue,
} from './sql-clients.ts';
import { databaseOf, tablesOf, type SendStatement } from './database.ts';
import { sqlite } from './dialect.ts';
import { isMethod, unsupported } from './known-clients.ts';
import { migrationTexts } from './sql-schema.ts';
import { storeOf, type SqlStore } from './sql-store.ts';

/**
 * Creates the store of a host in one SQLite database: a file for the processes of one machine, or a
 * service such as Cloudflare D1 or Turso for any number of hosts. Supports SQLite 3.35 or newer.
 * Each change is one statement. Later calls remove expired rows, up to 200 at a time.
 * @param client - database or client; the caller closes the client. Processes with a common file
 * need a busy timeout.
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const database: SqliteClient; // new DatabaseSync('sagas.db') of `node:sqlite`, or `env.DB` of Cloudflare
 *
 * const store = sqliteStore(database);
 * await store.createTables();
 * ```
 */
export function sqliteStore(client: SqliteClient, options: SqlOptions = {}): SqlStore {
  return storeOf(databaseOf('sqliteStore', sqlite, sender(client), options));
}

/**
 * Returns the SQL that creates the tables, for a migration tool: one text for each version of the
 * tables, oldest first. Each text can run again. {@link SqlStore.createTables} runs all of them.
 * @throws TypeError if the prefix is invalid
 * @example
 * ```ts
 * const [first] = sqliteMigrations({ prefix: 'shop_saga_' });
 * ```
 */
export function sqliteMigrations(options: Pick<SqlOptions, 'prefix'> = {}): readonly string[] {
  return migrationTexts(tablesOf(sqlite, options));
}

/** Statement with `?` for each value: not every library understands numbered parameters. */
interface Positional {
  readonly sql: string;
  /** Number of the value of each `?`, from 0. */
  readonly order: readonly number[];
}

function positional(numbered: string): Positional {
  const order: number[] = [];
  const sql = numbered.replaceAll(/\$(\d+)/g, (_, number: string) => {
    order.push(Number(number) - 1);
    return '?';
  });
  return { sql, order };
}

/** Sends a statement with one value for each `?`. */
type SendPositional = (
  sql: string,
  values: SqlValue[],
  isQuery: boolean,
) => Promise<readonly unknown[]>;

function sender(client: SqliteClient): SendStatement {
  const send = positionalSender(client);
  const known = new Map<string, Positional>();
  return (numbered, values, isQuery) => {
    const { sql, order } = known.get(numbered) ?? positional(numbered);
    known.set(numbered, { sql, order });
    return send(
      sql,
      order.map((number) => values[number] ?? null),
      isQuery,
    );
  };
}

function positionalSender(client: SqliteClient): SendPositional {
  if (isMethod(client, 'prepare') && isMethod(client, 'batch')) {
    const d1 = client as D1Like;
    return async (sql, values) => {
      const { results } = await d1
        .prepare(sql)
        .bind(...values)
        .all();
      return results;
    };
  }
  if (isMethod(client, 'prepare')) {
    const database = client as PreparingSqlite;
    const prepared = new Map<string, ReturnType<PreparingSqlite['prepare']>>();
    return async (sql, values, isQuery) => {
      if (!isQuery) {
        await database.prepare(sql).run(...values);
        return [];
      }
      const statement = prepared.get(sql) ?? database.prepare(sql);
      prepared.set(sql, statement);
      return (await statement.all(...values)) as readonly unknown[];
    };
  }
  if (isMethod(client, 'execute') && !isMethod(client, 'getConnection')) {
    const libsql = client as LibsqlLike;
    return async (sql, args) => (await libsql.execute({ sql, args })).rows;
  }
  throw optionError(
    `${unsupported('SQLite', client)} Pass a database of 'node:sqlite', 'better-sqlite3', 'bun:sqlite', or Cloudflare D1, or a client ` +
      "of '@libsql/client'.",
  );
}
