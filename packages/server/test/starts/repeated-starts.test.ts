import {
  elicit,
  memoryStore,
  publicMessageOf,
  saga,
  SagaError,
  step,
  type Principal,
  type SagaCaller,
  type SagaStore,
} from '@mcp-saga/server';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, newKey, oldKey, suspended, type TestHost } from '../fixtures/host.ts';

const ada: Principal = { issuer: 'https://id.example', subject: 'ada', client: 'app' };
const bob: Principal = { ...ada, subject: 'bob' };
const day = 24 * 60 * 60 * 1000;

/** Idempotency keys of the charges that ran. */
const charged: string[] = [];
beforeEach(() => void charged.splice(0));

const amount = z.object({ amount: z.number() });
const charge = step('charge', ({ idempotencyKey }) => void charged.push(idempotencyKey));

const pay = saga({ name: 'pay', version: '1', input: amount }, function* (input) {
  yield* charge;
  return `paid ${input.amount}`;
});

const order = saga({ name: 'order', version: '1', input: amount }, function* () {
  yield* charge;
  const { size } = yield* elicit('size', {
    message: 'Size?',
    schema: z.object({ size: z.string() }),
  });
  yield* step('ship', () => undefined);
  return size;
});

const refused = saga({ name: 'refused', version: '1' }, function* () {
  yield* step('charge', ({ idempotencyKey }) => void charged.push(idempotencyKey), {
    compensate: () => void charged.push('refund'),
  });
  throw new SagaError('Out of stock.', { public: true });
});

const answer = { stepId: 'size', result: { action: 'accept', content: { size: 'L' } } };

/** Hosts of two processes with one store. */
function processes(): TestHost & { readonly other: TestHost['host'] } {
  const clock = testClock();
  const store = memoryStore();
  const changes = { store, clock };
  const first = hostOf([pay, order, refused], changes);
  return { ...first, other: hostOf([pay, order, refused], changes).host };
}

const named = { caller: { principal: ada }, idempotencyKey: 'event-1' };

describe('a start that is repeated with its key', () => {
  test('acts once, and gets the same result from another process', async () => {
    const { host, other } = processes();
    const first = await host.start('pay', { amount: 12 }, named);
    expect(await other.start('pay', { amount: 12 }, named)).toEqual(first);
    expect(first).toMatchObject({ status: 'completed', result: 'paid 12' });
    expect(charged).toHaveLength(1);
  });

  test('gets the newest turn of a saga that has gone on', async () => {
    const { host, other } = processes();
    const first = suspended(await host.start('order', { amount: 12 }, named));
    const again = suspended(await other.start('order', { amount: 12 }, named));
    expect(again.sagaId).toBe(first.sagaId);
    expect(again.steps).toEqual(first.steps);
    await other.resume(again.token, [answer], { caller: { principal: ada } });
    expect(await host.start('order', { amount: 12 }, named)).toMatchObject({
      status: 'completed',
      result: 'L',
      sagaId: first.sagaId,
    });
    expect(charged).toHaveLength(1);
  });

  test('gets the stored failure of a saga that was undone, and acts no more', async () => {
    const { host, other } = processes();
    const first = await host.start('refused', {}, named);
    const again = await other.start('refused', {}, named);
    expect([first, again].map(({ status }) => status)).toEqual(['failed', 'failed']);
    if (again.status === 'failed')
      expect(publicMessageOf('refused', again.error)).toBe('Out of stock.');
    expect(charged).toHaveLength(2);
  });

  test('gets already_started when the result of an ended saga is forgotten', async () => {
    const { host, other, clock } = processes();
    await host.start('pay', { amount: 12 }, named);
    clock.now += 2 * day;
    await expect(other.start('pay', { amount: 12 }, named)).rejects.toMatchObject({
      code: 'already_started',
    });
    expect(charged).toHaveLength(1);
  });
});

/** A store whose records are sealed, as those of a fleet. */
function sealedStore(): SagaStore {
  const store = memoryStore();
  return { ...store, write: (...entry) => store.write(...entry) };
}

describe('a start during a rotation of keys', () => {
  const phases = [oldKey, `${oldKey},${newKey}`, `${newKey},${oldKey}`, newKey];

  test.each([
    [0, 1],
    [1, 0],
    [1, 2],
    [2, 1],
    [2, 3],
    [3, 2],
  ])('acts once if it is tried in phase %i and in phase %i', async (first, second) => {
    const store = sealedStore();
    const clock = testClock();
    const hostIn = (phase: number): TestHost => hostOf(pay, { store, clock, keys: phases[phase] });
    const turns = [];
    for (const phase of [first, second])
      turns.push(await hostIn(phase).host.start('pay', { amount: 12 }, named));
    expect(turns[1]).toEqual(turns[0]);
    expect(charged).toHaveLength(1);
  });

  test('is not run again if its record cannot be opened any more', async () => {
    const store = sealedStore();
    await hostOf(pay, { store, keys: oldKey }).host.start('pay', { amount: 12 }, named);
    const later = hostOf(pay, { store, keys: newKey });
    await expect(later.host.start('pay', { amount: 12 }, named)).rejects.toMatchObject({
      code: 'already_started',
    });
    expect(charged).toHaveLength(1);
  });
});

test('starts of a principal at its limit are refused before any step, and others go on', async () => {
  const limits = { maxKeptBytes: 20_000 };
  const { host } = hostOf(pay, { store: memoryStore(), limits });
  let begun = 0;
  const flood = async (): Promise<never> => {
    for (; ; begun += 1)
      await host.start('pay', { amount: 12 }, { ...named, idempotencyKey: `event-${begun}` });
  };
  await expect(flood()).rejects.toMatchObject({ code: 'guard_full' });
  expect(begun).toBeGreaterThan(3);
  expect(charged).toHaveLength(begun);
  await host.start('pay', { amount: 12 }, { ...named, caller: { principal: bob } });
  expect(charged).toHaveLength(begun + 1);
});

describe('another saga begins', () => {
  test.each([
    ['with another key', { amount: 12 }, { ...named, idempotencyKey: 'event-2' }],
    ['with other arguments', { amount: 13 }, named],
    ['for another principal', { amount: 12 }, { ...named, caller: { principal: bob } }],
    ['without a key', { amount: 12 }, { caller: { principal: ada } }],
  ])('%s', async (_, args, request) => {
    const { host } = processes();
    await host.start('pay', { amount: 12 }, named);
    await host.start('pay', args, request);
    expect(new Set(charged).size).toBe(2);
  });

  test('for the same principal of another tenant, with the same keys', async () => {
    const tenantOf = ({ user }: SagaCaller): string => (user as { readonly tenant: string }).tenant;
    const { host } = hostOf(pay, { store: memoryStore(), keys: { load: () => oldKey, tenantOf } });
    const by = (tenant: string) => ({
      ...named,
      caller: { user: { issuer: ada.issuer, subject: 'ada', client: 'app', tenant } },
    });
    for (const tenant of ['one', 'two', 'two']) await host.start('pay', { amount: 12 }, by(tenant));
    expect(charged).toHaveLength(2);
  });

  test('for another tool', async () => {
    const { host } = processes();
    const first = await host.start('pay', { amount: 12 }, named);
    const other = await host.start('order', { amount: 12 }, named);
    expect(other.sagaId).not.toBe(first.sagaId);
  });
});

test.each(['', 'x'.repeat(257), '\ud800', 7])(
  'the key %j is refused, and nothing runs',
  async (key) => {
    const { host } = processes();
    const request = { ...named, idempotencyKey: key as string };
    await expect(host.start('pay', { amount: 12 }, request)).rejects.toThrow('idempotencyKey');
    expect(charged).toEqual([]);
  },
);
