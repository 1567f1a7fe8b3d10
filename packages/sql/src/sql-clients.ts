import type { Duration } from '@mcp-saga/core';

/** Value of a parameter. */
export type SqlValue = string | number | null;

/**
 * Required method of a PostgreSQL client: a `Pool` of `pg` or of `@neondatabase/serverless`,
 * `neon()`, or a `PGlite`. Any other client fits with an object of this method.
 */
export interface PostgresClient {
  query(
    sql: string,
    values?: SqlValue[],
  ): PromiseLike<{ readonly rows: readonly unknown[] } | readonly unknown[]>;
}

/**
 * Required method of a database with prepared statements: `node:sqlite`, `better-sqlite3`,
 * `bun:sqlite`, or a `db0` database.
 */
export interface PreparingSqlite {
  prepare(sql: string): {
    all(...values: SqlValue[]): unknown;
    run(...values: SqlValue[]): unknown;
  };
}

/** Required methods of a Cloudflare D1 binding. */
export interface D1Like {
  prepare(sql: string): {
    bind(...values: SqlValue[]): { all(): PromiseLike<{ readonly results: readonly unknown[] }> };
  };
  batch(statements: never[]): unknown;
}

/** Required method of a client of `@libsql/client`. */
export interface LibsqlLike {
  execute(statement: {
    sql: string;
    args: SqlValue[];
  }): PromiseLike<{ readonly rows: readonly unknown[] }>;
}

/** A SQLite database, or a client of one. No library is imported. */
export type SqliteClient = PreparingSqlite | D1Like | LibsqlLike;

/** Options of {@link postgresStore} and {@link sqliteStore}. */
export interface SqlOptions {
  /**
   * Prefix of all tables: lowercase letters, digits, and `_`. In PostgreSQL, a schema and a dot may
   * come first. Hosts with the same sagas use the same prefix; other services need different
   * prefixes.
   * @default 'mcp_saga_'
   */
  readonly prefix?: string;
  /**
   * Maximum time to wait for a reply.
   * @default '5s'
   */
  readonly timeout?: Duration;
}
