import { storeGuard, storeTasks, type EntryStore, type SagaStore } from '@mcp-saga/server/stores';
import type { Database } from './database.ts';
import { createTables } from './sql-schema.ts';
import { sqlEntryStore } from './sql-entry-store.ts';
import { sqlMailbox } from './sql-mailbox.ts';

/** Stores of a host in one database. */
export interface SqlStore extends SagaStore {
  /** Entries of the guard. */
  readonly entries: EntryStore;
  /**
   * Creates the missing tables. Several processes can call the function at once, at each start. The
   * user of the database needs the permission to create tables.
   * @throws Error if the database refuses a statement
   */
  createTables(): Promise<void>;
}

/** Makes the stores of a database. */
export function storeOf(database: Database): SqlStore {
  const entries = sqlEntryStore(database);
  return {
    entries,
    guard: storeGuard(entries),
    tasks: storeTasks(entries),
    mailbox: sqlMailbox(database),
    createTables: () => createTables(database),
  };
}
