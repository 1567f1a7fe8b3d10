import {
  all,
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  pivot,
  poll,
  race,
  saga,
  sleep,
  step,
  type SagaStore,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { suspended } from '../fixtures/host.ts';
import { minute, queued } from '../queue/queued.ts';
import { answer, gone, hour, Ok } from './guarded-hosts.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const quiet = {
  onTurn: () => undefined,
  onError: () => undefined,
  onReject: () => undefined,
  onWarning: () => undefined,
};

/** Hosts of a saga with one store. */
function world(body: () => Steps<string>, commitEach = false) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const keys = generateKey();
  const ignored: string[] = [];
  const hostOn = (of: SagaStore) =>
    createSagaHost({
      sagas: [saga({ name: 'order', version: '1', commitEach }, body)],
      keys,
      name: 'shop',
      testing: { environment: 'production', clock },
      store: of,
      limits: { maxHold: 0, tokenTtl: 1_000 * hour, maxLifetime: 2_000 * hour },
      hooks: {
        onTurn: () => undefined,
        onReject: () => undefined,
        onError: () => undefined,
        onWarning: () => undefined,
        onIgnoredAnswer: ({ stepId }) => void ignored.push(stepId),
      },
    });
  return { clock, store, ignored, hostOn, host: hostOn(store) };
}

test('an answer whose question is open beside a page is not reported as unknown', async () => {
  const { clock, ignored, host } = world(function* () {
    const { sure } = yield* all({
      sure: elicit('sure', { message: 'Sure?', schema: Ok }),
      later: (function* () {
        yield* sleep(hour);
        yield* checkpoint('page 1');
      })(),
    });
    return `sure: ${sure.ok}`;
  });
  const { token } = suspended(await host.start('order', {}));
  clock.now += hour;
  suspended(await host.resume(token));
  const page = suspended(await host.resume(token, answer('sure')));
  expect(page).toMatchObject({ content: ['page 1'], steps: [{ stepId: 'sure' }] });
  expect({ unknown: page.unknown, ignored }).toEqual({ unknown: undefined, ignored: [] });
});

test('a request that follows its saga, and then a commit, counts one round', async () => {
  const did: string[] = [];
  const { clock, store, hostOn, host } = world(function* () {
    yield* race({ sure: elicit('sure', { message: 'Sure?', schema: Ok }), late: sleep(hour) });
    for (const name of ['a', 'b', 'c', 'd']) yield* step(name, () => void did.push(name));
    const { ok } = yield* elicit('next', { message: 'Next?', schema: Ok });
    return `next: ${ok}`;
  }, true);
  const { token } = suspended(await host.start('order', {}));
  clock.now += hour;
  let finishes = 0;
  const dying = hostOn(
    storeWithGuard(
      (guard) => ({
        finish: (...kept) => ((finishes += 1) > 2 ? gone() : guard.finish(...kept)),
      }),
      store,
    ),
  );
  await expect(dying.resume(token)).rejects.toThrow();
  clock.now += 70_000;
  const next = suspended(await host.resume(token, answer('sure')));
  expect(next).toMatchObject({ steps: [{ stepId: 'next' }], unknown: ['sure'] });
  expect(next.turn - (next.ownTurns ?? 0)).toBe(2);
});

test.each([1, 2, 3])(
  'a cancellation ends its saga, although %i polls of the same token run meanwhile',
  async (collisions) => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const did: string[] = [];
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      return 'ok';
    });
    const common = {
      sagas: [order],
      keys: generateKey(),
      name: 'shop',
      testing: { environment: 'production' as const, clock },
      hooks: quiet,
    };
    const hostOn = (of: SagaStore) => createSagaHost({ ...common, store: of });
    let begun = deferred<void>();
    let left = deferred<void>();
    const polling = hostOn(
      storeWithGuard(
        (guard) => ({
          begin: async (claim) => {
            const verdict = await guard.begin(claim);
            begun.resolve();
            return verdict;
          },
          forget: async (fence) => {
            await left.promise;
            return await guard.forget(fence);
          },
        }),
        store,
      ),
    );
    let token = '';
    let met = 0;
    const polls: Promise<unknown>[] = [];
    const cancelling = hostOn(
      storeWithGuard(
        (guard) => ({
          begin: async (claim) => {
            if (claim.action !== 'cancel' || met >= collisions) return await guard.begin(claim);
            met += 1;
            begun = deferred<void>();
            left = deferred<void>();
            polls.push(polling.resume(token));
            await begun.promise;
            const verdict = await guard.begin(claim);
            left.resolve();
            return verdict;
          },
        }),
        store,
      ),
    );
    ({ token } = suspended(await polling.start('order', {})));
    expect(await cancelling.cancel(token)).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
    });
    await Promise.allSettled(polls);
    expect(did).toEqual(['charge', 'refund']);
  },
);

test('a message that finishes an interrupted poll past a pivot waits for the next poll', async () => {
  const parcel = saga({ name: 'parcel', version: '1' }, function* () {
    yield* pivot('charged');
    yield* poll('packed', () => undefined, { every: 20 * minute, timeout: 240 * hour });
    return 'on its way';
  });
  const shop = queued(parcel, { limits: { maxHold: 0, maxLifetime: hour, tokenTtl: hour } });
  const dying = shop.restart({ store: storeWithGuard(() => ({ finish: gone }), shop.store) });
  suspended(await shop.host.start('parcel', {}));
  shop.clock.now += 3 * hour;
  const [sent] = shop.queue.sent;
  if (sent === undefined) throw new Error('The queue has no message.');
  const { message } = sent;
  await expect(dying.deliver(message)).rejects.toMatchObject({ code: 'guard_down' });
  shop.clock.now += 21 * minute;
  expect(await shop.host.deliver(message)).toMatchObject({ status: 'waiting' });
});

describe('a wrong answer decides nothing', () => {
  const wrong = (stepId: string) => [
    { stepId, result: { action: 'accept' as const, content: { ok: 'perhaps' } } },
  ];

  function* packs(): Steps<string> {
    const { sure } = yield* all({
      sure: elicit('sure', { message: 'Sure?', schema: Ok }),
      packed: (function* () {
        yield* sleep(hour);
        yield* step('pack', () => undefined);
      })(),
    });
    return `sure: ${sure.ok}`;
  }

  test('when a late copy of it lets time pass, the right one still counts', async () => {
    const { clock, host } = world(packs);
    const { token } = suspended(await host.start('order', {}));
    const again = suspended(await host.resume(token, wrong('sure')));
    clock.now += hour;
    suspended(await host.resume(token, wrong('sure')));
    expect(await host.resume(again.token, answer('sure'))).toMatchObject({ result: 'sure: true' });
  });

  test('when the process of a late copy dies, the right one still counts', async () => {
    const { clock, store, hostOn, host } = world(packs);
    const { token } = suspended(await host.start('order', {}));
    const again = suspended(await host.resume(token, wrong('sure')));
    clock.now += hour;
    const dying = hostOn(storeWithGuard(() => ({ finish: gone }), store));
    await expect(dying.resume(token, wrong('sure'))).rejects.toThrow();
    clock.now += 70_000;
    expect(await host.resume(again.token, answer('sure'))).toMatchObject({ result: 'sure: true' });
  });

  test('beside a right one, its request has decided', async () => {
    const { clock, host } = world(function* () {
      const { one, two } = yield* all({
        one: elicit('one', { message: 'One?', schema: Ok }),
        two: elicit('two', { message: 'Two?', schema: Ok }),
      });
      return `one: ${one.ok}, two: ${two.ok}`;
    });
    const { token } = suspended(await host.start('order', {}));
    const half = [...wrong('one'), ...answer('two')];
    suspended(await host.resume(token, half));
    const otherwise = [...answer('one'), ...answer('two', false)];
    await expect(host.resume(token, otherwise)).rejects.toMatchObject({ reason: 'used' });
    clock.now += hour;
    const { token: next } = suspended(await host.resume(token, half));
    expect(await host.resume(next, answer('one'))).toMatchObject({
      result: 'one: true, two: true',
    });
  });
});
