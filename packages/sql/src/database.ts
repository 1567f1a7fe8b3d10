import {
  durationOption,
  optionError,
  rejectUnknownOption,
  type NamesOf,
} from '@mcp-saga/core/shared';
import type { SqlOptions, SqlValue } from './sql-clients.ts';
import type { Dialect } from './dialect.ts';

/** Row of a reply. */
export type Row = { readonly [column: string]: unknown };

/**
 * Sends one statement with values, and returns the rows. `isQuery` is `false` for statements
 * without rows.
 */
export type SendStatement = (
  sql: string,
  values: SqlValue[],
  isQuery: boolean,
) => Promise<readonly unknown[]>;

/** Names of all tables. */
export interface Tables {
  readonly schema: string;
  readonly entries: string;
}

/** A database of any kind. */
export interface Database {
  readonly dialect: Dialect;
  readonly tables: Tables;
  /** Runs a statement with parameters `$1`, `$2`, …, and returns its rows. */
  readonly run: (sql: string, values: readonly SqlValue[]) => Promise<readonly Row[]>;
  /**
   * Runs a statement without rows or values, which is not prepared because it runs rarely: the
   * definition of a table, or a sweep.
   */
  readonly execute: (sql: string) => Promise<void>;
}

const optionNames: NamesOf<SqlOptions> = {
  prefix: true,
  timeout: true,
};

/**
 * Checks the options of a store, and adapts its database.
 * @param maker - name of the calling function, for errors
 * @throws TypeError or RangeError if an option is invalid
 */
export function databaseOf(
  maker: string,
  dialect: Dialect,
  send: SendStatement,
  options: SqlOptions,
): Database {
  rejectUnknownOption(maker, options, optionNames);
  const timeoutMs = durationOption('timeout', options.timeout ?? 5_000);
  const tables = tablesOf(dialect, options);
  const ask = async (
    sql: string,
    values: SqlValue[],
    isQuery: boolean,
  ): Promise<readonly unknown[]> => {
    try {
      return await within(timeoutMs, send(sql, values, isQuery));
    } catch (error) {
      throw reported(error, tables);
    }
  };
  return {
    dialect,
    tables,
    run: async (sql, values) => (await ask(sql, [...values], true)) as readonly Row[],
    execute: async (sql) => void (await ask(sql, [], false)),
  };
}

/** @throws TypeError if the prefix is invalid */
export function tablesOf(dialect: Dialect, { prefix = 'mcp_saga_' }: SqlOptions): Tables {
  if (!dialect.prefix.test(prefix)) {
    throw optionError(
      "prefix must consist of lowercase letters, digits, and '_', like 'shop_saga_'.",
    );
  }
  const name = (table: string): string => `${prefix}${table}`;
  return {
    schema: name('schema'),
    entries: name('entries'),
  };
}

/** Rejects if a reply takes too long. The statement may still run. */
async function within<T>(timeout: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new Error(
            `The database did not reply within ${timeout} ms. Check the connection, or raise timeout.`,
          ),
        ),
      timeout,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes the error of a failed statement. Drivers add the values of a statement to errors, so only
 * two members remain.
 */
function reported(error: unknown, { entries }: Tables): Error {
  const { message, code } = Object(error) as {
    readonly message?: unknown;
    readonly code?: unknown;
  };
  const text = String(message ?? error);
  const isMissing = code === '42P01' || text.includes('no such table');
  const hint = isMissing ? ` Create the tables (${entries}) with createTables() of the store.` : '';
  return Object.assign(new Error(text + hint), typeof code === 'string' ? { code } : {});
}
