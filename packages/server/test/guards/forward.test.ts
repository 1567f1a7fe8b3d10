import {
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  NotEnded,
  pivot,
  poll,
  ReplayMismatch,
  saga,
  sleep,
  step,
  StepTimedOut,
  type Program,
  type SagaStore,
  type Steps,
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, it } from 'vitest';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { gone, hour, Ok } from './guarded-hosts.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

const day = 24 * hour;

/** An abandoned saga past its pivot, and the messages of its queue. */
async function left(
  rest: (did: string[]) => Steps<void>,
  change: (guard: SagaGuard, clock: TestClock) => Partial<SagaGuard> = () => ({}),
) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const did: string[] = [];
  const facts: SuspendedSagaFacts[] = [];
  const keys = generateKey();
  const parcel = saga({ name: 'parcel', version: '1' }, function* () {
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    yield* pivot('charged');
    yield* step('pack', () => void did.push('pack'), { compensate: () => void did.push('unpack') });
    yield* checkpoint();
    yield* rest(did);
    yield* step('ship', () => void did.push('ship'));
    return 'on its way';
  });
  const hostOf = (served: Program, of: SagaStore = store) =>
    createSagaHost({
      sagas: [served],
      keys,
      name: 'shop',
      testing: { environment: 'production', clock, sleep: async (ms) => void (clock.now += ms) },
      store: of,
      hooks: {
        onTurn: () => undefined,
        onError: () => undefined,
        onReject: () => undefined,
        onSuspended: (told) => void facts.push(told),
        onSettled: () => void did.push('settled'),
      },
    });
  const host = hostOf(
    parcel,
    storeWithGuard((guard) => change(guard, clock), store),
  );
  suspended(await host.start('parcel', {}));
  did.length = 0;
  const [{ cancelToken, cancelAfter }] = facts.splice(0) as [SuspendedSagaFacts];
  clock.now = cancelAfter;
  return { host, hostOf, clock, did, facts, cancelToken };
}

/** The last message of the queue. */
const newest = (facts: readonly SuspendedSagaFacts[]): SuspendedSagaFacts =>
  facts.at(-1) as SuspendedSagaFacts;

describe('an abandoned saga past its pivot', () => {
  it('[E2] [E5] [E8] continues through waits that fit into a request', async () => {
    let tries = 0;
    const waits = await left(function* (did) {
      yield* step(
        'label',
        () => {
          did.push('label');
          if ((tries += 1) < 3) throw new Error('503');
        },
        { retry: { attempts: 5, delay: 200 } },
      );
      yield* sleep(1_000);
      let asked = 0;
      yield* poll('labelled', () => ((asked += 1) > 2 ? true : undefined), {
        every: 1_000,
        timeout: 60_000,
      });
    });
    expect(await waits.host.cancel(waits.cancelToken)).toMatchObject({ result: 'on its way' });
    expect(waits.did).toEqual(['label', 'label', 'label', 'ship', 'settled']);
  });

  it('[E5] [E8] stays suspended through a wait too long for a request, and reports when to return', async () => {
    const { host, clock, did, facts, cancelToken } = await left(function* () {
      yield* sleep(8 * day);
    });
    const due = clock.now + 8 * day;
    const waits = host.cancel(cancelToken);
    await expect(waits).rejects.toBeInstanceOf(NotEnded);
    await expect(waits).rejects.toMatchObject({
      code: 'not_ended',
      public: true,
      retryAfterMs: 8 * day,
    });
    // The message of the waiting turn is due when the wait ends, although the lifetime of the saga
    // is seven days.
    expect(facts).toMatchObject([{ turn: 2, cancelAfter: due }]);
    clock.now = due - 60_000;
    await expect(host.cancel(cancelToken)).rejects.toMatchObject({ retryAfterMs: 60_000 });
    await expect(host.cancel(newest(facts).cancelToken)).rejects.toMatchObject({
      reason: 'not_yet_valid',
    });
    // Nothing began too early. The queue was notified again, in case the message was dropped.
    expect(facts).toMatchObject([{ turn: 2 }, { turn: 2, cancelAfter: due }]);
    expect(did).toEqual([]);
    clock.now = due;
    expect(await host.cancel(cancelToken)).toMatchObject({ result: 'on its way' });
    expect(await host.cancel(newest(facts).cancelToken)).toMatchObject({ result: 'on its way' });
    expect(did).toEqual(['ship', 'settled', 'settled']);
  });

  it('[E5] [E8] continues to poll by the messages of its own turns, until the poll succeeds', async () => {
    let packed = 0;
    const { host, clock, did, facts, cancelToken } = await left(function* (asked) {
      yield* poll('packed', () => (asked.push('?'), (packed += 1) > 3 ? true : undefined), {
        every: hour,
        timeout: day,
      });
    });
    let token = cancelToken;
    for (let turn = 2; turn < 5; turn += 1) {
      await expect(host.cancel(token)).rejects.toMatchObject({ retryAfterMs: hour });
      const { cancelToken: next, ...when } = newest(facts);
      expect(when).toMatchObject({ turn, cancelAfter: clock.now + hour });
      clock.now += hour;
      token = next;
    }
    expect(await host.cancel(token)).toMatchObject({ result: 'on its way' });
    expect(did).toEqual(['?', '?', '?', '?', 'ship', 'settled']);
  });

  it('[E5] [E8] continues without an answer after the deadline of its question', async () => {
    const { host, clock, did, facts, cancelToken } = await left(function* () {
      try {
        yield* elicit('gift', { message: 'As a gift?', schema: Ok, timeout: hour });
      } catch (error) {
        if (!(error instanceof StepTimedOut)) throw error;
      }
    });
    await expect(host.cancel(cancelToken)).rejects.toMatchObject({ retryAfterMs: hour });
    clock.now += hour;
    expect(newest(facts).cancelAfter).toBe(clock.now);
    expect(await host.cancel(cancelToken)).toMatchObject({ result: 'on its way' });
    expect(did).toEqual(['ship', 'settled']);
  });

  it('[E5] [E8] [U4] continues over several turns within the time of a request', async () => {
    const { host, clock, did, facts, cancelToken } = await left(
      function* () {
        for (let page = 0; page < 150; page += 1) {
          yield* step('page', () => void (clock.now += 1_000), { key: `${page}` });
          yield* checkpoint();
        }
      },
      // A slow guard.
      (guard, time) => ({
        begin: (claim) => {
          time.now += 300;
          return guard.begin(claim);
        },
      }),
    );
    const began = clock.now;
    await expect(host.cancel(cancelToken)).rejects.toMatchObject({ retryAfterMs: 0 });
    expect(clock.now - began).toBe(20 * 1_300);
    // If the process that continues the saga dies, the queue delivers a minute later.
    expect(newest(facts).cancelAfter).toBe(clock.now + 60_000);
    // The first message follows all stored turns, and the remaining work still has the whole
    // budget.
    for (let requests = 1; requests < 7; requests += 1) {
      clock.now += hour;
      await expect(host.cancel(cancelToken)).rejects.toBeInstanceOf(NotEnded);
    }
    clock.now += hour;
    // The newest one has less to walk.
    expect(await host.cancel(newest(facts).cancelToken)).toMatchObject({ result: 'on its way' });
    expect(await host.cancel(cancelToken)).toMatchObject({ result: 'on its way' });
    expect(did).toEqual(['ship', 'settled', 'settled']);
  });

  it('[E5] [E8] stays suspended if its code was changed, for a rollback', async () => {
    const { host, hostOf, did, cancelToken } = await left(function* () {
      yield* sleep(1_000);
    });
    const changed = saga({ name: 'parcel', version: '1' }, function* () {
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      yield* pivot('charged');
      yield* step('wrap', () => void did.push('wrap'));
      return 'wrapped';
    });
    await expect(hostOf(changed).cancel(cancelToken)).rejects.toBeInstanceOf(ReplayMismatch);
    expect(did).toEqual([]);
    expect(await host.cancel(cancelToken)).toMatchObject({ result: 'on its way' });
    expect(did).toEqual(['ship', 'settled']);
  });

  it('[E1] [E5] [E8] continues forward after a crash, and never compensates', async () => {
    let store: 'here' | 'gone' = 'here';
    const keys: string[] = [];
    const { host, clock, did, facts, cancelToken } = await left(
      function* () {
        yield* step('label', ({ idempotencyKey }) => void keys.push(idempotencyKey));
        yield* sleep(hour);
      },
      (guard) => ({ finish: (...kept) => (store === 'here' ? guard.finish(...kept) : gone()) }),
    );
    store = 'gone';
    await expect(host.cancel(cancelToken)).rejects.toMatchObject({ code: 'guard_down' });
    store = 'here';
    clock.now += 70_000;
    await expect(host.cancel(cancelToken)).rejects.toBeInstanceOf(NotEnded);
    clock.now += hour;
    expect(await host.cancel(newest(facts).cancelToken)).toMatchObject({ result: 'on its way' });
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(did).toEqual(['ship', 'settled']);
  });
});
