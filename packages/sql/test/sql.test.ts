import { PGlite } from '@electric-sql/pglite';
import { createClient } from '@libsql/client';
import { storeGuard, type SagaGuard } from '@mcp-saga/server/internal';
import type { EntryKey } from '@mcp-saga/server/stores';
import { neon } from '@neondatabase/serverless';
import {
  postgresMigrations,
  postgresStore,
  sqliteMigrations,
  sqliteStore,
  type PostgresClient,
  type SqliteClient,
  type SqlStore,
} from '@mcp-saga/sql';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { claim, fenceOf, hour } from '../../../test/support/guard-claims.ts';
import { pass } from './support/pass.ts';

/** Key of the entry of a task. */
const task = (group: string): EntryKey => ({ group, name: 'task' });

const silent = (answer: Promise<never>): PostgresClient => ({ query: () => answer });

/** What a call throws. */
async function errorOf(call: () => unknown): Promise<Error & { readonly code?: string }> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}

describe('a store in a database', () => {
  it('[T13] rejects an invalid client at construction by its name', () => {
    class Collection {
      find(): void {}
    }
    const query = (): void => undefined;
    const forPostgres: readonly [unknown, string][] = [
      [new Collection(), 'Collection'],
      [createClient({ url: ':memory:' }), 'Sqlite3Client'],
      [Object.assign(() => undefined, { unsafe: query }), "'postgres'"],
      [{ query, execute: query, getConnection: query }, "'mysql2'"],
      [{ query, prepare: query }, 'Object'],
      ['postgres://localhost', 'string'],
      [null, 'null'],
      [undefined, 'undefined'],
    ];
    for (const [client, name] of forPostgres)
      expect(() => postgresStore(client as PostgresClient), name).toThrow(`client: ${name}.`);
    const forSqlite: readonly [unknown, string][] = [
      [new Collection(), 'Collection'],
      [{ query }, 'Object'],
      [{ query, execute: query, getConnection: query }, 'Object'],
      ['sagas.db', 'string'],
      [null, 'null'],
    ];
    for (const [client, name] of forSqlite)
      expect(() => sqliteStore(client as SqliteClient), name).toThrow(`client: ${name}.`);
    // It has `unsafe`, too.
    postgresStore(neon('postgres://saga:x@db.neon.tech/saga'));
  });

  it('rejects an invalid option at construction', () => {
    const client = silent(new Promise(() => undefined));
    expect(() => postgresStore(client, { tablePrefix: 'x' } as object)).toThrow(
      "no option 'tablePrefix'",
    );
    expect(() => postgresStore(client, { timeout: 0 })).toThrow(RangeError);
    expect(() => postgresStore(client, { timeout: Number.NaN })).toThrow(RangeError);
    for (const prefix of [
      '',
      'Shop_',
      'shop-',
      '1_',
      'a.b.c_',
      'x; DROP TABLE y; --',
      'x'.repeat(99),
    ]) {
      expect(() => postgresStore(client, { prefix }), prefix).toThrow(TypeError);
      expect(() => postgresMigrations({ prefix }), prefix).toThrow(TypeError);
      expect(() => sqliteMigrations({ prefix }), prefix).toThrow(TypeError);
    }
    expect(() => sqliteMigrations({ prefix: 'shop.saga_' })).toThrow(TypeError);
    expect(postgresMigrations({ prefix: 'shop.saga_' })[0]).toContain(
      'CREATE INDEX IF NOT EXISTS saga_entries_due',
    );
  });

  it('a call to the database fails after `timeout`, by default five seconds', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const never = silent(new Promise(() => undefined));
    const failed = [
      expect(storeGuard(postgresStore(never)).begin(claim())).rejects.toThrow('within 5000 ms'),
      expect(postgresStore(never, { timeout: 100 }).read(task('a'))).rejects.toThrow(
        'within 100 ms',
      ),
    ];
    await expect.poll(() => vi.getTimerCount()).toBe(2);
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(failed);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects an unexpected reply', async () => {
    const store = postgresStore({ query: () => Promise.resolve({ rows: [] }) });
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    await expect(store.append({ group: 'a', name: 'ada' }, 'x', bounds)).rejects.toThrow(TypeError);
  });
});

let pglite: Promise<PGlite> | undefined;
let made = 0;
afterAll(async () => await (await pglite)?.close());

interface Opened {
  readonly prefix: string;
  readonly store: SqlStore;
  /** The guard of a host on the store. */
  readonly guard: SagaGuard;
  /** The same store, by a client whose statements all run twice, as after a lost reply. */
  readonly twice: SqlStore;
  readonly rows: (sql: string) => Promise<readonly { readonly [column: string]: unknown }[]>;
}

const databases: readonly [string, () => Promise<Omit<Opened, 'guard'>>][] = [
  [
    'PGlite',
    async () => {
      // It takes seconds to start.
      const database = await (pglite ??= PGlite.create());
      const prefix = `test_${(made += 1)}_`;
      const twice: PostgresClient = {
        query: async (sql, values) => {
          await database.query(sql, values);
          return await database.query(sql, values);
        },
      };
      return {
        prefix,
        store: postgresStore(database, { prefix }),
        twice: postgresStore(twice, { prefix }),
        rows: async (sql) => (await database.query<{ [column: string]: unknown }>(sql)).rows,
      };
    },
  ],
  [
    'libSQL',
    async () => {
      const database = createClient({ url: ':memory:' });
      onTestFinished(() => database.close());
      const twice: SqliteClient = {
        execute: async (statement) => {
          await database.execute(statement);
          return await database.execute(statement);
        },
      };
      return {
        prefix: 'mcp_saga_',
        store: sqliteStore(database),
        twice: sqliteStore(twice),
        rows: async (sql) => (await database.execute(sql)).rows,
      };
    },
  ],
];

describe.each(databases)('in %s', (_, connect) => {
  const open = async (): Promise<Opened> => {
    const opened = await connect();
    return { ...opened, guard: storeGuard(opened.store) };
  };

  it('[T13] a statement that runs again after a lost reply counts once', async () => {
    const { store, guard: onceGuard, twice } = await open();
    await store.createTables();
    const guard = storeGuard(twice);
    const fence = fenceOf(await guard.begin(claim()));
    expect(await onceGuard.begin(claim())).toBe('busy');
    await guard.release(fence);
    const again = fenceOf(await guard.begin(claim()));
    expect(again.number).toBeGreaterThan(fence.number);
    expect(await guard.finish(again, 'sealed')).toBe(true);
    expect(await guard.begin(claim())).toEqual({ response: 'sealed', wentOn: false });
    const first = await guard.begin(claim({ turn: 2, request: 'brought' }));
    expect(Object.keys(first as object)).toEqual(['run']);
    await guard.release(fenceOf(first));
    expect(await guard.begin(claim({ turn: 2 }))).toHaveProperty('interrupted', 'brought');
    expect(await guard.finish(again, 'other')).toBe(false);
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(true);
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(false);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    const write = async (body: string, expected: number) =>
      (await twice.write(task('a'), { head: 'task', body }, expected, bounds)).status;
    expect(await write('one', 0)).toBe('written');
    const { version = 0 } = (await twice.read(task('a'))) ?? {};
    expect(await write('two', version)).toBe('written');
    expect(await write('three', version)).toBe('other');
    expect(await twice.read(task('a'))).toMatchObject({ body: 'two' });
    const ada = { group: 'a', name: 'ada' };
    expect(await twice.append(ada, 'one', bounds)).toBe('added');
    expect(await twice.append(ada, 'two', bounds)).toBe('taken');
    expect(await twice.append({ ...ada, name: 'eve' }, 'two', bounds)).toBe('full');
  });

  it('[T13] a request that waits for another gets its request, also after a lost reply', async () => {
    const { store, guard, twice } = await open();
    await store.createTables();
    await guard.release(fenceOf(await guard.begin(claim({ request: 'brought' }))));
    const awaiting = await storeGuard(twice).begin(claim({ digest: 'no', awaits: true }));
    expect(awaiting).toMatchObject({ interrupted: 'brought', other: true });
    expect(await guard.finish(fenceOf(awaiting), 'sealed')).toBe(true);
  });

  it('[T13] a forgotten turn and a new lease never have the same number', async () => {
    const { store, guard } = await open();
    await store.createTables();
    const numbers: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const fence = fenceOf(await guard.begin(claim()));
      numbers.push(fence.number);
      expect(await guard.forget(fence)).toBe(true);
    }
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
  });

  it('[T13] rejects a turn if the clocks of database and host differ by more than 30 s', async () => {
    const { store, guard, rows, prefix } = await open();
    await store.createTables();
    for (const seconds of [-40, 40]) {
      const asked = claim({ now: Date.now() + seconds * 1_000 });
      await expect(guard.begin(asked)).rejects.toThrow();
    }
    expect(await rows(`SELECT * FROM ${prefix}entries`)).toHaveLength(0);
    fenceOf(await guard.begin(claim({ now: Date.now() + 20_000 })));
    await expect(guard.begin(claim({ now: Date.now() + 40_000 }))).rejects.toThrow('30 s');
  });

  it('[T13] rejects an entry that would expire at once because the clock of the database is ahead', async () => {
    const { store, guard } = await open();
    await store.createTables();
    const expiresAt = Date.now() - 1_000;
    await expect(guard.begin(claim({ expiresAt }))).rejects.toThrow('clock of the database');
    await expect(guard.claim('saga:fire', expiresAt)).rejects.toThrow();
    const bounds = { expiresAtMs: expiresAt, maxValues: 1 };
    await expect(store.append({ group: 'a', name: 'ada' }, 'x', bounds)).rejects.toThrow();
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(true);
    expect(await store.list('a')).toEqual({ values: [], isClosed: false });
  });

  it('names the function that creates missing tables', async () => {
    const { guard } = await open();
    const { message } = await errorOf(() => guard.begin(claim()));
    expect(message).toContain('createTables()');
  });

  it('[T13] an error of the database contains no sealed value', async () => {
    const { store, guard, rows, prefix } = await open();
    await store.createTables();
    await rows(`ALTER TABLE ${prefix}entries RENAME COLUMN body TO other`);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    const errors = await Promise.all([
      errorOf(() => guard.begin(claim({ request: 'SEALED' }))),
      errorOf(() => store.write(task('a'), { head: 'task', body: 'SEALED' }, 0, bounds)),
      errorOf(() => store.append({ group: 'a', name: 'ada' }, 'SEALED', bounds)),
    ]);
    for (const error of errors) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('SEALED');
      expect(error.cause).toBeUndefined();
    }
  });

  it('creates tables again without data loss', async () => {
    const { store, rows, prefix } = await open();
    await store.createTables();
    const life = { expiresAtMs: Date.now() + hour };
    await store.write(task('a'), { head: 'task', body: 'one' }, 0, life);
    await store.createTables();
    expect(await store.read(task('a'))).toMatchObject({ body: 'one' });
    expect(
      (await rows(`SELECT version FROM ${prefix}schema`)).map(({ version }) => Number(version)),
    ).toEqual([1]);
  });

  it('removes up to 200 expired rows on the first call and each 50th', async () => {
    const { store, guard, rows, prefix } = await open();
    await store.createTables();
    const left = async (): Promise<readonly number[]> =>
      await Promise.all(
        ['<>', '='].map(async (isList) => {
          const counted = `SELECT COUNT(*) AS count FROM ${prefix}entries WHERE name ${isList} '%list'`;
          return Number((await rows(counted))[0]?.['count']);
        }),
      );
    const expiresAtMs = Date.now() + hour;
    for (let turn = 0; turn < 300; turn += 1) {
      await guard.begin(claim({ turn }));
    }
    await store.append({ group: 'a', name: 'ada' }, 'x', { expiresAtMs, maxValues: 1 });
    await guard.claim('saga:fire', expiresAtMs);
    await pass(rows, prefix, 2 * hour);
    expect(await left()).toEqual([301, 1]);
    // As many calls as lead to the next sweep: the additions to lists count, too.
    const call = async (count: number): Promise<void> => {
      await guard.claim(`saga:${count}`, Date.now() + hour);
      const bounds = { expiresAtMs: Date.now() + hour, maxValues: 99 };
      await store.append({ group: 'new', name: `${count}` }, 'x', bounds);
    };
    for (let count = 0; count < 25; count += 1) await call(count);
    const [entries = 0, lists = 0] = await left();
    expect(entries + lists).toBe(302 + 25 + 1 - 200);
    for (let count = 25; count < 50; count += 1) await call(count);
    expect(await left()).toEqual([50, 1]);
  });

  it('removes the response of a turn earlier than the turn, and never an interrupted request', async () => {
    const { store, guard, rows, prefix } = await open();
    await store.createTables();
    const times = { respondsUntil: Date.now() + hour, expiresAt: Date.now() + 3 * hour };
    await guard.finish(fenceOf(await guard.begin(claim(times))), 'sealed');
    await guard.release(
      fenceOf(await guard.begin(claim({ ...times, turn: 2, request: 'brought' }))),
    );
    await pass(rows, prefix, 2 * hour);
    for (let count = 0; count < 50; count += 1) {
      await guard.claim(`saga:${count}`, Date.now() + hour);
    }
    const turns = `SELECT body, bytes FROM ${prefix}entries WHERE name LIKE 'turn:%' ORDER BY name`;
    const kept = (await rows(turns)).map(({ body, bytes }) => [body, Number(bytes)]);
    expect(kept).toEqual([
      [null, 0],
      ['brought', 7],
    ]);
    // The turn behind it has no response yet.
    expect(await guard.begin(claim())).toBe('busy');
    expect(await guard.begin(claim({ turn: 2 }))).toHaveProperty('interrupted', 'brought');
  });
});

it('[T13] a turn that is forgotten while another request asks for it is no full principal', async () => {
  const database = createClient({ url: ':memory:' });
  onTestFinished(() => database.close());
  const store = sqliteStore(database);
  await store.createTables();
  const charge = { to: 'ada', limit: 1_000 };
  const guard = storeGuard(store);
  const held = fenceOf(await guard.begin(claim({ charge })));
  let isHeld = true;
  const racing: SqliteClient = {
    execute: async (statement) => {
      // Between the write that finds the turn taken and the read of it.
      if (isHeld && statement.sql.startsWith('SELECT clock')) {
        isHeld = false;
        await guard.forget(held);
      }
      return await database.execute(statement);
    },
  };
  const asked = await storeGuard(sqliteStore(racing)).begin(claim({ charge, digest: 'no' }));
  expect(isHeld).toBe(false);
  expect(asked).toHaveProperty('run');
});
