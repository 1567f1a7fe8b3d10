import { PGlite } from '@electric-sql/pglite';
import { createClient } from '@libsql/client';
import { postgresStore, sqliteStore, type SqlStore } from '@mcp-saga/sql';
import { expect, it } from 'vitest';

const hour = 3_600_000;

const makers: readonly [string, () => Promise<SqlStore>][] = [
  ['SQLite', () => Promise.resolve(sqliteStore(createClient({ url: ':memory:' })))],
  ['PostgreSQL', async () => postgresStore(await PGlite.create())],
];

it.each(makers)(
  'a value that would expire at once is not added to a live list, in %s',
  async (_, make) => {
    const store = await make();
    await store.createTables();
    const charge = { to: 'ada', limit: 1_000 };
    const bounds = { maxValues: 10, chargeTo: 'ada' };
    await store.append({ group: 'a', name: 'one' }, 'x', {
      ...bounds,
      expiresAtMs: Date.now() + hour,
    });
    await expect(async () =>
      store.append({ group: 'a', name: 'late' }, 'y'.repeat(2_000), {
        ...bounds,
        expiresAtMs: Date.now() - hour,
      }),
    ).rejects.toThrow('expire at once');
    expect((await store.list('a')).values.map(({ name }) => name)).toEqual(['one']);
    const written = await store.write({ group: 'g', name: 'n' }, { head: 'h' }, 0, {
      expiresAtMs: Date.now() + hour,
      charge,
    });
    expect(written.status).toBe('written');
  },
);
