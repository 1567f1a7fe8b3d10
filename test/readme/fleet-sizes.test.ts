import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient as createLibsql } from '@libsql/client';
import { redisStore } from '@mcp-saga/redis';
import { approval, createSagaHost, generateKey, saga, type SagaStore } from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import { postgresStore, sqliteStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { describeWithPostgres, startPostgres } from '../support/postgres-server.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { patient } from '../support/patience.ts';

const page = readFileSync(new URL('../../docs/operate/fleet.md', import.meta.url), 'utf8');
const [, section = ''] =
  /### Answers from outside, and stores in SQL\n([^]+?)\n## /.exec(page) ?? [];
const hour = 3_600_000;
/** Databases grow by pages of some kilobytes. Enough entries make the rest small. */
const enough = 300;
/** A table of PostgreSQL has a heap and several indexes, each with a page that is not full. */
const enoughForPostgres = 1_000;
// Another version of a database stores some bytes more or less.
const tolerance = 0.15;

/** A store, and the bytes that it takes. */
interface Measured {
  readonly store: SagaStore;
  readonly bytes: () => Promise<number>;
  /** Number of entries to measure. */
  readonly entries: number;
}

// PostgreSQL rewrites its tables before each measurement.

describe('the page on fleets, memory and space', () => {
  describeWithRedis('with Redis', () => {
    it('[T13] states the memory that Redis needs', async () => {
      const server = await startRedis();
      const redis = createClient({ url: server.url });
      await redis.connect();
      onTestFinished(async () => {
        redis.destroy();
        await server.kill();
      });
      const bytes = async (): Promise<number> => {
        const keys = await redis.keys('*');
        const sizes = await Promise.all(keys.map((key) => redis.memoryUsage(key, { SAMPLES: 0 })));
        return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
      };
      await expectSizes('Redis', { store: redisStore(redis, patient), bytes, entries: enough });
    });
  });

  describeWithPostgres('with PostgreSQL', () => {
    it('[T13] states the space that PostgreSQL needs', async () => {
      const server = await startPostgres();
      const pool = new Pool({ connectionString: server.url });
      onTestFinished(async () => {
        await pool.end();
        await server.remove();
      });
      const store = postgresStore(pool, patient);
      await store.createTables();
      const bytes = async (): Promise<number> => {
        const { rows } = await pool.query<{ readonly name: string }>(
          "SELECT relname AS name FROM pg_class WHERE relname LIKE 'mcp_saga_%' AND relkind = 'r'",
        );
        const names = rows.map(({ name }) => name);
        await pool.query(`VACUUM FULL ${names.join()}`);
        const sizes = await pool.query<{ readonly bytes: string }>(
          'SELECT sum(pg_total_relation_size(name::regclass)) AS bytes FROM unnest($1::text[]) AS name',
          [names],
        );
        return Number(sizes.rows[0]?.bytes);
      };
      await expectSizes('PostgreSQL', { store, bytes, entries: enoughForPostgres });
    });
  });

  it('[T13] states the space that SQLite needs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-sizes-'));
    const client = createLibsql({ url: `file:${join(folder, 'sagas.db')}` });
    onTestFinished(() => {
      client.close();
      rmSync(folder, { recursive: true });
    });
    await client.execute('PRAGMA synchronous = OFF');
    const store = sqliteStore(client, patient);
    await store.createTables();
    const bytes = async (): Promise<number> => {
      await client.execute('VACUUM');
      const { rows } = await client.execute(
        'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
      );
      return Number(rows[0]?.['bytes']);
    };
    await expectSizes('SQLite', { store, bytes, entries: enough });
  });
});

/** Compares a column of the table with what a store takes. */
async function expectSizes(column: string, { store, bytes, entries }: Measured): Promise<void> {
  const measured: { [what: string]: number } = {};
  const grow = async (what: string, add: (index: number) => unknown): Promise<void> => {
    const before = await bytes();
    for (let index = 0; index < entries; index += 1) {
      await add(index);
    }
    measured[what] = ((await bytes()) - before) / entries;
  };

  const links: string[] = [];
  const Comment = z.object({ comment: z.string() });
  const vote = saga({ name: 'vote', version: '1' }, function* () {
    const { answers } = yield* approval('vote', {
      message: 'Release version 2?',
      schema: Comment,
      to: ['ann', 'bob', 'cy'],
      of: 3,
      link: 'accept',
      deliver: async ({ url }) => void links.push(url),
      timeout: hour,
    });
    return `${answers.length} answers`;
  });
  const host = createSagaHost({
    sagas: [vote],
    keys: generateKey(),
    name: 'shop',
    store,
    url: 'https://shop.example',
    // Without a queue, a turn waits for answers.
    limits: { maxHold: 0 },
  });
  const approve = (recipient: number) => async (index: number) => {
    const body = new URLSearchParams({ decision: 'approve', f0: 'Tested on three machines' });
    const request = new Request(links[3 * index + recipient] ?? '', { method: 'POST', body });
    expect((await host.answer(request)).status).toBe(200);
  };
  await grow('a waiting saga, with a link for each of three', () => host.start('vote', {}));
  await grow('the first answer', approve(0));
  await grow('each further answer', approve(1));

  const sealed = (bytesOfText: number): string =>
    randomBytes(bytesOfText).toString('base64url').slice(0, bytesOfText);
  const guard = storeGuard(store);
  const use = (response: string) => async () => {
    const claim = {
      sagaId: sealed(16),
      turn: 1,
      jti: sealed(16),
      action: 'resume',
      digest: sealed(43),
    } as const;
    const verdict = await guard.begin({
      ...claim,
      leaseMs: hour,
      expiresAt: Date.now() + hour,
    });
    if (typeof verdict === 'string' || !('run' in verdict)) throw new Error('The token is used');
    await guard.finish(verdict.run, response);
  };
  await grow('a used token', use(''));
  await grow('a used token, with a response of 1,000 sealed bytes', use(sealed(1_000)));
  await grow('a step that runs once', () => guard.claim(sealed(60), Date.now() + hour));
  await grow('a task of 2,000 sealed bytes', () =>
    store.write({ group: sealed(16), name: 'task' }, { head: 'task', body: sealed(2_000) }, 0, {
      expiresAtMs: Date.now() + hour,
    }),
  );

  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const at = cells[0]?.indexOf(column) ?? -1;
  const said = Object.fromEntries(
    cells.slice(2).map((row) => [row[0] ?? '', Number(row[at]?.replaceAll(',', ''))]),
  );
  expect(Object.keys(said)).toEqual(Object.keys(measured));
  const wrong = Object.entries(measured)
    .filter(([what, figure]) => !(Math.abs((said[what] ?? 0) - figure) <= figure * tolerance + 16))
    .map(([what, figure]) => `${what}: measured ${Math.round(figure)}, said ${said[what]}`);
  expect(wrong, column).toEqual([]);
}
