import {
  approval,
  createSagaHost,
  generateKey,
  saga,
  step,
  type SagaHost,
  type SuspendedTurn,
} from '@mcp-saga/server';
import type { SqlStore } from '@mcp-saga/sql';
import { storeGuard } from '@mcp-saga/server/internal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectLibsql, connectPglite, type Connected } from './support/databases.ts';
import { patient } from '../../../test/support/patience.ts';

const minute = 60_000;
const base = 'https://shop.example';
const caller = { principal: { subject: 'carl', client: 'app' } };
const ann = { principal: { subject: 'ann', client: 'browser' } };

/** Two hosts on one database: one with the time of the database, and one whose clock is wrong. */
interface World {
  readonly right: SagaHost;
  readonly wrong: SagaHost;
  readonly did: string[];
  readonly urls: string[];
  /** Corrects the clock of the wrong host. */
  readonly correct: () => void;
}

function worldOf([one, other]: readonly [SqlStore, SqlStore], skew: number): World {
  const did: string[] = [];
  const urls: string[] = [];
  let ahead = skew;
  const refund = saga({ name: 'refund', version: '1' }, function* () {
    yield* step('reserve', () => void did.push('reserve'));
    const { approved } = yield* approval('manager', {
      message: 'Refund?',
      timeout: 60 * minute,
      deliver: ({ url }) => void urls.push(url),
    });
    yield* step('pay', () => void did.push(approved ? 'pay' : 'refuse'), { once: true });
    return String(approved);
  });
  const keys = generateKey();
  const hostOf = (store: SqlStore, clock: () => number): SagaHost =>
    createSagaHost({
      sagas: [refund],
      keys,
      name: 'shop',
      store,
      url: base,
      limits: { maxHold: 0 },
      testing: { clock, environment: 'test' },
      hooks: { onTurn: () => undefined, onReject: () => undefined, onError: () => undefined },
    });
  return {
    right: hostOf(one, () => Date.now()),
    wrong: hostOf(other, () => Date.now() + ahead),
    did,
    urls,
    correct: () => void (ahead = 0),
  };
}

function answer(host: SagaHost, url = ''): Promise<Response> {
  const headers = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  const body = new URLSearchParams({ decision: 'approve' });
  return host.answer(new Request(url, { method: 'POST', headers, body }), { caller: ann });
}

describe.each([
  ['PGlite', connectPglite],
  ['libSQL', connectLibsql],
])('a host with a wrong clock, on %s', (_, connect) => {
  let database: Connected;
  let made = 0;
  beforeAll(async () => {
    database = await connect();
  });
  afterAll(async () => await database.close());

  const make = async (skew: number): Promise<World> => {
    made += 1;
    const stores = database.stores({ ...patient, prefix: `skew${made}_` });
    await stores[0].createTables();
    return worldOf(stores, skew);
  };
  const start = async (host: SagaHost): Promise<SuspendedTurn> =>
    (await host.start('refund', {}, { caller })) as SuspendedTurn;

  it.each([
    ['10 minutes ahead', 10 * minute],
    ['10 minutes behind', -10 * minute],
  ])('[T13] runs no turn %s, and keeps the token valid for other hosts', async (__, skew) => {
    const { right, wrong, did, urls } = await make(skew);
    const { token } = await start(right);
    await expect(answer(right, urls[0])).resolves.toMatchObject({ status: 200 });
    await expect(wrong.resume(token, [], { caller })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:guard_down|clock_behind)$/),
    });
    expect(did).toEqual(['reserve']);
    expect(await right.resume(token, [], { caller })).toMatchObject({
      status: 'completed',
      result: 'true',
    });
    expect(did).toEqual(['reserve', 'pay']);
    // A repeated request gets the same response, from the database.
    expect(await right.resume(token, [], { caller })).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['reserve', 'pay']);
  });

  it.each([
    ['10 minutes ahead', 10 * minute],
    ['10 minutes behind', -10 * minute],
  ])('[T13] stores each answer that it records %s', async (__, skew) => {
    const { right, wrong, did, urls } = await make(skew);
    const { token } = await start(right);
    const { status } = await answer(wrong, urls[0]);
    // A host whose clock is behind takes the link for one of the future.
    if (status !== 200) expect((await answer(right, urls[0])).status).toBe(200);
    expect((await answer(right, urls[0])).status).toBe(409);
    expect(await right.resume(token, [], { caller })).toMatchObject({
      status: 'completed',
      result: 'true',
    });
    expect(did).toEqual(['reserve', 'pay']);
  });

  it.each([
    ['10 minutes ahead', 10 * minute],
    ['10 minutes behind', -10 * minute],
  ])('[T13] continues a saga that it began %s after its clock was corrected', async (__, skew) => {
    const { right, wrong, did, urls, correct } = await make(skew);
    const { token } = await start(wrong);
    expect(did).toEqual(['reserve']);
    await expect(wrong.resume(token, [], { caller })).rejects.toMatchObject({ code: 'guard_down' });
    correct();
    const later = skew > 0 ? 'clock_behind' : undefined;
    const turn: unknown = await wrong
      .resume(token, [], { caller })
      .catch((error: unknown) => error);
    // Until that time has come, its token is one of the future.
    if (later !== undefined) expect(turn).toMatchObject({ code: later });
    else {
      expect((await answer(right, urls[0])).status).toBe(200);
      const { token: next } = turn as SuspendedTurn;
      expect(await right.resume(next, [], { caller })).toMatchObject({ status: 'completed' });
    }
    expect(did).toEqual(later === undefined ? ['reserve', 'pay'] : ['reserve']);
  });

  it.each([
    ['ahead', 10 * minute],
    ['behind', -10 * minute],
  ])(
    '[T13] removes entries by the clock of the database, whatever the clock of hosts %s',
    async (__, skew) => {
      made += 1;
      const [one, other] = database.stores({ ...patient, prefix: `skew${made}_` });
      await one.createTables();
      const now = Date.now();
      expect(await storeGuard(one).claim('once', now + 60 * minute)).toBe(true);
      expect(await storeGuard(other).claim('once', now + skew + 60 * minute)).toBe(false);
      const bounds = { expiresAtMs: now + 60 * minute, maxValues: 4 };
      const key = { group: 'list', name: 'ann' };
      expect(await one.append(key, 'first', bounds)).toBe('added');
      const later = { ...bounds, expiresAtMs: bounds.expiresAtMs + skew };
      expect(await other.append(key, 'second', later)).toBe('taken');
      expect(await other.list('list')).toEqual({
        values: [{ name: 'ann', value: 'first' }],
        isClosed: false,
      });
    },
  );
});
