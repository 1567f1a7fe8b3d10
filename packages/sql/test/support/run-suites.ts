import { sqliteStore, type PreparingSqlite } from '@mcp-saga/sql';
import {
  entryStoreConformance,
  guardConformance,
  mailboxConformance,
  taskStoreConformance,
} from '../../../testing/src/guard.ts';
import { guardsOn, shiftedStores } from '../../../../test/support/shifted-store.ts';
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

const fresh = async () => {
  const database = await open();
  const store = sqliteStore(database);
  await store.createTables();
  const run = (sql: string): unknown => database.prepare(sql).run();
  return { store, now: Date.now, pass: (ms: number) => pass(run, 'mcp_saga_', ms) };
};
const makeEntries = async () => {
  const { store, pass: passInDatabase } = await fresh();
  return shiftedStores(store.entries, store.entries, passInDatabase);
};
const cases = [
  ...entryStoreConformance(makeEntries),
  ...guardConformance(async () => guardsOn(await makeEntries()), { runs: 20 }),
  ...taskStoreConformance(async () => {
    const { store, ...time } = await fresh();
    return { store: store.tasks, elsewhere: store.tasks, ...time };
  }),
  ...mailboxConformance(async () => {
    const { store, ...time } = await fresh();
    return { mailbox: store.mailbox, elsewhere: store.mailbox, ...time };
  }),
];
const failed: string[] = [];
for (const { title, run } of cases) {
  await run().catch((error: unknown) => void failed.push(`${title}: ${String(error)}`));
}
console.log(JSON.stringify({ cases: cases.length, failed }));
