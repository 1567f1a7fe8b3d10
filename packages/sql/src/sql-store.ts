import type { SagaStore } from '@mcp-saga/server/stores';
import type { Database } from './database.ts';
import { sqlEntries, sweepOf } from './sql-entries.ts';
import { sqlLists } from './sql-lists.ts';
import { createTables } from './sql-schema.ts';

/** Store of a host in a database. */
export interface SqlStore extends SagaStore {
  /**
   * Creates the missing tables. Several processes can call the function at once, at each start. The
   * user of the database needs the permission to create tables.
   * @throws Error if the database refuses a statement
   */
  createTables(): Promise<void>;
}

/** Makes the store of a database. */
export function storeOf(database: Database): SqlStore {
  const sweep = sweepOf(database);
  return {
    ...sqlEntries(database, sweep),
    ...sqlLists(database, sweep),
    createTables: () => createTables(database),
  };
}
