import type { SagaStore } from '@mcp-saga/server/stores';
import type { Database } from './database.ts';
import { createTables } from './sql-schema.ts';
import { sqlGuard } from './sql-guard.ts';
import { sqlMailbox } from './sql-mailbox.ts';
import { sqlTaskStore } from './sql-task-store.ts';

/** Stores of a host in one database. */
export interface SqlStore extends SagaStore {
  /**
   * Creates the missing tables. Several processes can call the function at once, at each start. The
   * user of the database needs the permission to create tables.
   * @throws Error if the database refuses a statement
   */
  createTables(): Promise<void>;
}

/** Makes the stores of a database. */
export function storeOf(database: Database): SqlStore {
  return {
    guard: sqlGuard(database),
    tasks: sqlTaskStore(database),
    mailbox: sqlMailbox(database),
    createTables: () => createTables(database),
  };
}
