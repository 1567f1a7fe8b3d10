import { storeGuard } from '@mcp-saga/server/internal';
import { postgresMigrations, postgresStore, type PostgresClient } from '@mcp-saga/sql';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  describeWithPostgres,
  startPostgres,
  type PostgresServer,
} from '../../../test/support/postgres-server.ts';
import { storeConformance } from '../../testing/src/stores.ts';
import { shiftedStores } from '../../../test/support/shifted-store.ts';
import { pass } from './support/pass.ts';
import { patient } from '../../../test/support/patience.ts';

const hour = 3_600_000;

describeWithPostgres('in PostgreSQL', () => {
  let server: PostgresServer;
  let made = 0;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  const poolOf = (max = 10): Pool => {
    const pool = new Pool({ connectionString: server.url, max });
    pool.on('error', () => undefined);
    onTestFinished(() => pool.end());
    return pool;
  };
  const freshPrefix = (): string => `own_${(made += 1)}_`;

  /**
   * As behind a pooler of transactions: each statement is on another connection, which then forgets
   * its session.
   */
  const pooled = (pool: Pool): PostgresClient => ({
    query: async (sql, values) => {
      const connection = await pool.connect();
      try {
        return await connection.query(sql, values);
      } finally {
        await connection.query('DISCARD ALL');
        connection.release();
      }
    },
  });

  /** A pool whose connections lose their prepared statements after each statement. */
  const forgetful = (pool: Pool): Pool => {
    const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
    const query = async (statement: string, values?: unknown[]): Promise<unknown> => {
      const connection = await connect();
      try {
        return await connection.query(statement, values);
      } finally {
        await connection.query('DEALLOCATE ALL');
        connection.release();
      }
    };
    return Object.defineProperty(pool, 'query', { value: query });
  };

  it('[T13] prepares its statements once for each connection', async () => {
    const pool = poolOf(1);
    const store = postgresStore(pool, { ...patient, prefix: freshPrefix() });
    await store.createTables();
    const expiresAt = Date.now() + hour;
    for (const key of ['a:1', 'a:2', 'a:3'])
      expect(await storeGuard(store).claim(key, expiresAt)).toBe(true);
    const { rows } = await pool.query(
      "SELECT statement FROM pg_prepared_statements WHERE name LIKE 'mcp_saga_%'",
    );
    expect(rows.filter(({ statement }) => String(statement).startsWith('INSERT'))).toHaveLength(1);
  });

  it('[T13] runs a statement once if a pooler has lost it, and prepares no more', async () => {
    const pool = forgetful(poolOf(1));
    const store = postgresStore(pool, { ...patient, prefix: freshPrefix() });
    await store.createTables();
    const expiresAt = Date.now() + hour;
    for (const key of ['a:1', 'a:2', 'a:3']) {
      expect(await storeGuard(store).claim(key, expiresAt)).toBe(true);
      expect(await storeGuard(store).claim(key, expiresAt)).toBe(false);
    }
  });

  /** Explains both statements of a sweep of a table, into which a query has written rows. */
  async function plansOfSweep(
    pool: Pool,
    toQuery: (entries: string) => string,
    how: 'EXPLAIN' | 'EXPLAIN ANALYZE',
  ): Promise<{ readonly entries: string; readonly plans: readonly string[] }> {
    const prefix = freshPrefix();
    const entries = `${prefix}entries`;
    const sent = new Set<string>();
    const query = (sql: string, values?: unknown[]) => (sent.add(sql), pool.query(sql, values));
    const store = postgresStore({ query }, { ...patient, prefix });
    await store.createTables();
    await pool.query(toQuery(entries));
    expect(await storeGuard(store).claim('a:1', Date.now() + hour)).toBe(true);
    const sweeps = [...sent].filter((sql) => sql.includes('SKIP LOCKED'));
    expect(sweeps).toHaveLength(2);
    const plans: string[] = [];
    for (const sweep of sweeps) {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`${how} ${sweep}`);
      plans.push(rows.map((line) => line['QUERY PLAN']).join('\n'));
    }
    return { entries, plans };
  }

  it('sweeps by an index, also in a table without statistics', async () => {
    const later = Date.now() + hour;
    const row = `'x', 'turn:' || n, 1, 'head', repeat('x', 1000), 0, ${later}, 0, ${later}, NULL, 0`;
    const toQuery = (entries: string): string =>
      `ALTER TABLE ${entries} SET (autovacuum_enabled = off); INSERT INTO ${entries} SELECT ${row} FROM generate_series(1, 5000) AS n`;
    const { plans } = await plansOfSweep(poolOf(), toQuery, 'EXPLAIN');
    for (const plan of plans) expect(plan).not.toContain('Seq Scan');
  });

  it('reads no more rows in a sweep than it removes, however many bodies are due', async () => {
    const pool = poolOf();
    const row = `'x', 'turn:' || n, 1, 'head', 'body', 0, ${Date.now() + hour}, 0, n, NULL, 4`;
    const toQuery = (entries: string): string =>
      `INSERT INTO ${entries} SELECT ${row} FROM generate_series(1, 5000) AS n; ANALYZE ${entries}`;
    const { entries, plans } = await plansOfSweep(pool, toQuery, 'EXPLAIN ANALYZE');
    for (const plan of plans) {
      const passed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, count]) =>
        Number(count),
      );
      expect(Math.max(0, ...passed)).toBeLessThanOrEqual(200);
    }
    const { rows } = await pool.query(`SELECT 1 FROM ${entries} WHERE body IS NULL AND bytes = 0`);
    // One sweep by the host, and one by this test; the claim has no body either.
    expect(rows).toHaveLength(401);
  });

  it('[T13] reports other errors of a prepared statement', async () => {
    const pool = poolOf(1);
    const store = postgresStore(pool, { ...patient, prefix: freshPrefix() });
    await expect(storeGuard(store).claim('a:1', Date.now() + hour)).rejects.toMatchObject({
      code: '42P01',
    });
  });

  it('[T13] keeps its promises behind a transaction pooler', async () => {
    const pool = poolOf();
    const make = async () => {
      const prefix = freshPrefix();
      const store = postgresStore(pooled(pool), { ...patient, prefix });
      await store.createTables();
      return shiftedStores(store, store, (ms) => pass((sql) => pool.query(sql), prefix, ms));
    };
    for (const { run } of storeConformance(make, { runs: 5 })) await run();
  });

  it('allows many processes to create the tables at once', async () => {
    const prefix = freshPrefix();
    const stores = Array.from({ length: 8 }, () =>
      postgresStore(poolOf(2), { ...patient, prefix }),
    );
    await Promise.all(stores.map((store) => store.createTables()));
    const claims = await Promise.all(
      stores.map(async (store) => await storeGuard(store).claim('saga:fire', Date.now() + hour)),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('works with tables of a migration tool, in a schema of its own', async () => {
    const pool = poolOf();
    const prefix = 'billing.saga_';
    await pool.query('CREATE SCHEMA billing');
    for (const sql of [...postgresMigrations({ prefix }), ...postgresMigrations({ prefix })]) {
      await pool.query(sql);
    }
    const { rows } = await pool.query(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'billing' ORDER BY 1",
    );
    const names = ['entries', 'schema'].map((name) => ({
      tablename: `saga_${name}`,
    }));
    expect(rows).toEqual(names);
    const store = postgresStore(pool, { ...patient, prefix });
    const task = { group: 'a', name: 'task' };
    const value = { head: 'task', body: 'sealed' };
    const written = await store.write(task, value, 0, { expiresAtMs: Date.now() + hour });
    expect(written.status).toBe('written');
    expect(await store.read(task)).toMatchObject(value);
  });

  it('[T13] needs only permission to read and write its tables', async () => {
    const owner = poolOf();
    const prefix = freshPrefix();
    await postgresStore(owner, { ...patient, prefix }).createTables();
    await owner.query("CREATE ROLE host LOGIN PASSWORD 'x'");
    await owner.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${prefix}entries TO host`);
    const pool = new Pool({ connectionString: server.url.replace('saga@', 'host@') });
    onTestFinished(() => pool.end());
    const store = postgresStore(pool, { ...patient, prefix });
    const guard = storeGuard(store);
    const expiresAt = Date.now() + hour;
    const turn = {
      sagaId: 's',
      turn: 1,
      jti: 'x',
      action: 'resume',
      digest: 'x',
      leaseMs: 1_000,
      expiresAt,
    } as const;
    const verdict = await guard.begin(turn);
    if (typeof verdict === 'string' || !('run' in verdict))
      throw new Error('The turn does not run.');
    await guard.release(verdict.run);
    await guard.claim('s:fire', expiresAt);
    const bounds = { expiresAtMs: expiresAt, maxValues: 1 };
    await store.write({ group: 'a', name: 'task' }, { head: 'task', body: 'sealed' }, 0, bounds);
    await store.append({ group: 'a', name: 'ada' }, 'sealed', bounds);
    await store.close('a', expiresAt);
    expect(await store.list('a')).toEqual({
      values: [{ name: 'ada', value: 'sealed' }],
      isClosed: true,
    });
  });

  it('[T13] keeps leases, claims, and answers if the server crashes', async () => {
    const prefix = freshPrefix();
    const store = postgresStore(poolOf(), { ...patient, prefix });
    const guard = storeGuard(store);
    await store.createTables();
    const expiresAt = Date.now() + hour;
    const turn = {
      sagaId: 's',
      turn: 1,
      jti: 'x',
      action: 'resume',
      digest: 'x',
      leaseMs: hour,
      expiresAt,
    } as const;
    const verdict = await guard.begin(turn);
    if (typeof verdict === 'string' || !('run' in verdict))
      throw new Error('The turn does not run.');
    await guard.claim('s:fire', expiresAt);
    const key = { group: 'a', name: 'ada' };
    const bounds = { expiresAtMs: expiresAt, maxValues: 1 };
    await store.append(key, 'sealed', bounds);
    await server.kill();
    await expect(guard.finish(verdict.run, 'sealed')).rejects.toThrow(/./);
    await server.restart();
    expect(await guard.begin(turn)).toBe('busy');
    expect(await guard.finish(verdict.run, 'sealed')).toBe(true);
    expect(await guard.begin(turn)).toMatchObject({ response: 'sealed' });
    expect(await guard.claim('s:fire', expiresAt)).toBe(false);
    expect(await store.append(key, 'other', bounds)).toBe('taken');
  });
});
