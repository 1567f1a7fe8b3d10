import { saga, step, type Principal, type SagaStore } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { deferred } from '../fixtures/deferred.ts';
import { minute, queued } from '../queue/queued.ts';

const ada: Principal = { issuer: 'https://id.example', subject: 'ada', client: 'app' };
const named = { caller: { principal: ada }, idempotencyKey: 'event-1' };

/** A saga that charges and ships. Each step says whether its process dies in it. */
function ordering({
  dies,
  commitEach = false,
}: {
  readonly dies?: 'charge' | 'ship';
  readonly commitEach?: boolean;
} = {}) {
  const keys: Record<string, string[]> = { charge: [], ship: [], refund: [] };
  let isDead = dies === undefined;
  const act = (id: 'charge' | 'ship') =>
    step(
      id,
      ({ idempotencyKey }) => {
        keys[id]?.push(idempotencyKey);
        if (dies !== id || isDead) return id;
        isDead = true;
        return new Promise<string>(() => undefined);
      },
      { compensate: ({ idempotencyKey }) => void keys['refund']?.push(idempotencyKey) },
    );
  const options = { name: 'order', version: '1', commitEach } as const;
  const order = saga(options, function* () {
    yield* act('charge');
    yield* act('ship');
    return 'shipped';
  });
  return { order, keys };
}

/** Resolves when what waits in this process has gone on. */
const settled = async (): Promise<void> => {
  for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a start whose process has died', () => {
  test.each([
    ['charge', false],
    ['ship', false],
    ['charge', true],
    ['ship', true],
  ] as const)(
    'in the step %s is finished by its repetition, with the same keys (commitEach: %s)',
    async (dies, commitEach) => {
      const { order, keys } = ordering({ dies, commitEach });
      const { host, restart, clock } = queued(order);
      void host.start('order', {}, named);
      await settled();
      clock.now += 5 * minute;
      expect(await restart().start('order', {}, named)).toMatchObject({ result: 'shipped' });
      expect(keys[dies]).toHaveLength(2);
      expect(new Set(keys[dies]).size).toBe(1);
      expect(keys['charge']?.length).toBeLessThanOrEqual(2);
      expect(keys['refund']).toEqual([]);
    },
  );

  test('is finished by the queue, without its client, and then known', async () => {
    const { order, keys } = ordering({ dies: 'ship' });
    const { host, restart, drain } = queued(order);
    void host.start('order', {}, named);
    await settled();
    expect(await drain()).toMatchObject({ status: 'ended' });
    expect(await restart().start('order', {}, named)).toMatchObject({ result: 'shipped' });
    expect(new Set(keys['ship']).size).toBe(1);
    expect(keys['ship']).toHaveLength(2);
  });

  test('goes on in the version that began it', async () => {
    const { order, keys } = ordering({ dies: 'charge' });
    const { host, restart, clock } = queued(order);
    void host.start('order', {}, named);
    await settled();
    clock.now += 5 * minute;
    const newer = saga({ name: 'order', version: '2', previous: [{ saga: order }] }, function* () {
      yield* step('other', () => undefined);
      return 'by version 2';
    });
    const next = restart({ sagas: [newer] });
    expect(await next.start('order', {}, named)).toMatchObject({ result: 'shipped' });
    expect(keys['ship']).toHaveLength(1);
  });
});

const alone = { queue: undefined } as never;

test('a start does not run with the record of another one that a store returns', async () => {
  const { order, keys } = ordering({ dies: 'charge' });
  const other = ordering({ dies: 'charge' });
  const { host, restart, clock, store } = queued(order, alone);
  const foreign = { ...named, idempotencyKey: 'event-2' };
  void host.start('order', {}, named);
  void restart({ sagas: [other.order] }).start('order', {}, foreign);
  await settled();
  clock.now += 5 * minute;
  const bodies = new Set<string>();
  const swapping: SagaStore = {
    ...store,
    write: async (...entry) => {
      const written = await store.write(...entry);
      const stored = written.status === 'other' ? written.entry : undefined;
      if (stored?.body === undefined) return written;
      bodies.add(stored.body);
      const body = [...bodies].find((one) => one !== stored.body) ?? stored.body;
      return { ...written, status: 'other', entry: { ...stored, body } };
    },
  };
  const late = restart({ store: swapping });
  // The first look only learns what the store has of the one, and gets it back.
  await late.start('order', {}, { ...foreign, signal: AbortSignal.abort() }).catch(() => undefined);
  const charges = keys['charge']?.length;
  await expect(late.start('order', {}, named)).rejects.toMatchObject({ code: 'busy' });
  expect(keys['charge']).toHaveLength(charges ?? 0);
});

test('a start that runs is waited for by its repetition', async () => {
  const ends = deferred<undefined>();
  let runs = 0;
  const slow = saga({ name: 'slow', version: '1' }, function* () {
    yield* step('charge', async () => {
      runs += 1;
      await ends.promise;
    });
    return 'paid';
  });
  const { host, restart } = queued(slow);
  const both = [host, restart()].map((by) => by.start('slow', {}, named));
  await settled();
  ends.resolve(undefined);
  const turns = await Promise.all(both);
  expect(turns.map((turn) => ('result' in turn ? turn.result : undefined))).toEqual([
    'paid',
    'paid',
  ]);
  expect(runs).toBe(1);
});
