import { sqliteStore, type PreparingSqlite } from '@mcp-saga/sql';
import { storeConformance } from '../../../testing/src/stores.ts';
import { shiftedStores } from '../../../../test/support/shifted-store.ts';
import { pass } from './pass.ts';

// Runs the suites on the SQLite of a runtime, and prints what failed. No test runner, so that any
// runtime can run it.
const [kind = ''] = process.argv.slice(2);

async function open(): Promise<PreparingSqlite> {
  if (kind === 'bun:sqlite') {
    const module = (await import(kind)) as {
      readonly Database: new (file: string) => PreparingSqlite;
    };
    return new module.Database(':memory:');
  }
  const module = (await import(kind)) as {
    readonly DatabaseSync: new (file: string) => PreparingSqlite;
  };
  return new module.DatabaseSync(':memory:');
}

const make = async () => {
  const database = await open();
  const store = sqliteStore(database);
  await store.createTables();
  const run = (sql: string): unknown => database.prepare(sql).run();
  return shiftedStores(store, store, (ms) => pass(run, 'mcp_saga_', ms));
};
const cases = storeConformance(make, { runs: 20 });
const failed: string[] = [];
for (const { title, run } of cases) {
  await run().catch((error: unknown) => void failed.push(`${title}: ${String(error)}`));
}
console.log(JSON.stringify({ cases: cases.length, failed }));
