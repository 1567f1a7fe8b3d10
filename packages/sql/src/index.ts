/** Store in PostgreSQL or SQLite, shared by a fleet of saga hosts. */
export { postgresMigrations, postgresStore } from './postgres-store.ts';
export { sqliteMigrations, sqliteStore } from './sqlite-store.ts';
export type { SqlStore } from './sql-store.ts';
export type {
  D1Like,
  LibsqlLike,
  PostgresClient,
  PreparingSqlite,
  SqliteClient,
  SqlOptions,
  SqlValue,
} from './sql-clients.ts';
