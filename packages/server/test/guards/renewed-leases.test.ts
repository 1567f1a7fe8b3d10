import {
  createSagaHost,
  elicit,
  memoryStore,
  saga,
  sleep,
  step,
  type QueueMessage,
  type SagaHostOptions,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { deferred } from '../fixtures/deferred.ts';
import { hooksInto, nothingTold, oldKey, suspended } from '../fixtures/host.ts';
import { recordingQueue } from '../queue/queued.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const lease = 30_000;
const Ok = z.object({});
const answer = [{ stepId: 'go', result: { action: 'accept', content: {} } }];

// The event loop stays real: seals and digests need it.
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances the time in steps, by seconds at first, and lets the work of each step end. */
async function pass(ms: number, by = 1_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += by) {
    await vi.advanceTimersByTimeAsync(by);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Two hosts that share a guard, whose saga has a step that lasts until `ends` resolves. */
async function setUp(
  changes: (guard: SagaGuard) => Partial<SagaGuard> = () => ({}),
  leaseMs = lease,
  options: Pick<SagaHostOptions, 'queue'> = {},
) {
  const ends = deferred<void>();
  const began = deferred<void>();
  const ran: string[] = [];
  const slow = saga({ name: 'slow', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Ok });
    yield* step('pay', async () => {
      ran.push('pay');
      began.resolve();
      await ends.promise;
    });
    return 'paid';
  });
  const store = memoryStore();
  const told = nothingTold();
  const hosts = [changes, () => ({})].map((change) =>
    createSagaHost({
      sagas: [slow],
      keys: oldKey,
      name: 'test',
      store: storeWithGuard(change, store),
      hooks: hooksInto(told),
      testing: { environment: 'production' },
      limits: { lease: leaseMs },
      ...options,
    }),
  );
  const [one, other] = hosts as [(typeof hosts)[number], (typeof hosts)[number]];
  const { token } = suspended(await one.start('slow', {}));
  /** Sends the answer to the first host, and waits until the step runs. */
  const begin = async (): Promise<{ readonly first: ReturnType<typeof one.resume> }> => {
    const first = one.resume(token, answer);
    await began.promise;
    return { first };
  };
  return { begin, other, token, ends, ran, told };
}

describe('a step that lasts longer than the lease of its turn', () => {
  test('[T13] runs once, since the lease is renewed while its process lives', async () => {
    const { begin, other, token, ends, ran, told } = await setUp();
    const { first } = await begin();
    await pass(5 * lease);
    const again = other.resume(token, answer).catch((error: unknown) => error);
    await pass(2 * lease);
    expect(await again).toMatchObject({ code: 'busy' });
    ends.resolve();
    expect(await first).toMatchObject({ status: 'completed', result: 'paid' });
    expect(await other.resume(token, answer)).toMatchObject({ result: 'paid' });
    expect(ran).toEqual(['pay']);
    expect(told.errors).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('[T13] is renewed for the lifetime of a token, so that it blocks nobody forever', async () => {
    const renewals: number[] = [];
    const { begin, ends } = await setUp(
      (guard) => ({
        renew: async (...renewal) =>
          renewals.push(Date.now()) > 0 && (await guard.renew(...renewal)),
      }),
      lease,
      // With a queue, the turn is known for weeks, and its late result counts.
      { queue: recordingQueue() },
    );
    const { first } = await begin();
    const began = Date.now();
    await pass(2 * 3_600_000);
    expect(renewals.length).toBeGreaterThan(100);
    expect((renewals.at(-1) ?? 0) - began).toBeLessThanOrEqual(3_600_000);
    ends.resolve();
    expect(await first).toMatchObject({ result: 'paid' });
  });

  test('[T13] keeps its turn although its token expires while it runs, without a queue', async () => {
    const { begin, ends, ran, told } = await setUp();
    await pass(59 * 60_000, 60_000);
    const { first } = await begin();
    await pass(20 * 60_000);
    ends.resolve();
    expect(await first).toMatchObject({ result: 'paid' });
    expect(ran).toEqual(['pay']);
    expect(told.errors).toEqual([]);
  });

  test('[T13] is renewed after a renewal that failed, whose error is reported', async () => {
    let failures = 1;
    const { begin, other, token, ends, ran, told } = await setUp((guard) => ({
      renew: async (...renewal) => {
        failures -= 1;
        if (failures >= 0) throw new Error('The store is down.');
        return await guard.renew(...renewal);
      },
    }));
    const { first } = await begin();
    await pass(3 * lease);
    const again = other.resume(token, answer).catch((error: unknown) => error);
    await pass(2 * lease);
    expect(await again).toMatchObject({ code: 'busy' });
    ends.resolve();
    expect(await first).toMatchObject({ result: 'paid' });
    expect(ran).toEqual(['pay']);
    expect(told.errors).toMatchObject([{ code: 'guard_down' }]);
  });
});

test('[T13] a turn whose lease was lost is renewed no more', async () => {
  const renewals: unknown[] = [];
  const { begin, ends } = await setUp(() => ({
    renew: async () => {
      renewals.push('renewed');
      return await Promise.resolve(false);
    },
  }));
  const { first } = await begin();
  await pass(10 * lease);
  expect(renewals).toHaveLength(1);
  ends.resolve();
  await first;
});

describe('a lease of a turn whose token has expired, or expires soon', () => {
  /** Two hosts with a queue, whose messages a test delivers, and a step that lasts long. */
  function setUpQueue() {
    const ends = deferred<void>();
    const began = deferred<void>();
    const ran: string[] = [];
    const messages: QueueMessage[] = [];
    const pay = async (): Promise<void> => {
      ran.push('pay');
      began.resolve();
      await ends.promise;
    };
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('pay', pay);
      return 'paid';
    });
    const waits = saga({ name: 'waits', version: '1' }, function* () {
      yield* sleep(60_000);
      yield* step('pay', pay);
      return 'paid';
    });
    const undoes = saga({ name: 'undoes', version: '1' }, function* () {
      yield* step('reserve', () => 'room', { compensate: pay });
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return 'paid';
    });
    const store = memoryStore();
    const told = nothingTold();
    const make = () =>
      createSagaHost({
        sagas: [asks, waits, undoes],
        keys: oldKey,
        name: 'test',
        store,
        queue: { send: (message) => void messages.push(message) },
        limits: { maxHold: 0, lease: lease },
        hooks: hooksInto(told),
        testing: { environment: 'production' },
      });
    const deliver = async (host: ReturnType<typeof make>): Promise<unknown> => {
      const message = messages.at(-1);
      if (message === undefined) throw new Error('There is no message.');
      return await host.deliver(message).catch((error: unknown) => error);
    };
    return { one: make(), other: make(), deliver, messages, told, began, ends, ran };
  }

  test('[T13] is renewed, so that a step of a client acts once', async () => {
    const { one, other, deliver, began, ends, ran } = setUpQueue();
    const { token } = suspended(await one.start('asks', {}));
    await pass(3_600_000 - 10_000, 10_000);
    const first = one.resume(token, answer);
    await began.promise;
    await pass(80_000);
    const second = deliver(other);
    await pass(70_000);
    ends.resolve();
    expect(await first).toMatchObject({ result: 'paid' });
    await pass(2_000);
    await second;
    expect(ran).toEqual(['pay']);
  });

  test('[T13] is renewed, so that a step of a late message acts once', async () => {
    const { one, other, deliver, began, ends, ran } = setUpQueue();
    await one.start('waits', {});
    await pass(3 * 3_600_000, 30_000);
    const first = deliver(one);
    await began.promise;
    await pass(80_000);
    const second = deliver(other);
    await pass(65_000);
    ends.resolve();
    await pass(2_000);
    await Promise.all([first, second]);
    expect(ran).toEqual(['pay']);
  });

  test('[T13] keeps the message of its turn in the queue, which gets no error', async () => {
    const { one, other, deliver, messages, told, began, ends, ran } = setUpQueue();
    const { token } = suspended(await one.start('asks', {}));
    const first = one.resume(token, answer);
    await began.promise;
    for (let minute = 1; minute <= 5; minute += 1) {
      const before = messages.length;
      const second = deliver(other);
      await pass(65_000);
      expect(await second).toMatchObject({ status: 'waiting' });
      expect(messages.length).toBe(before + 1);
    }
    expect(told.errors).toEqual([]);
    ends.resolve();
    await first;
    await pass(2_000);
    expect(await deliver(other)).toMatchObject({ status: 'ended' });
    expect(ran).toEqual(['pay']);
  });

  test('[T13] keeps one message of its turn, however often the queue delivers a message', async () => {
    const { one, other, messages, began, ends } = setUpQueue();
    const { token } = suspended(await one.start('asks', {}));
    const first = one.resume(token, answer);
    await began.promise;
    // A queue that stores several messages, and delivers each twice, as SQS may.
    let stored = messages.splice(0).slice(-1);
    const counts: number[] = [];
    for (let minute = 1; minute <= 5; minute += 1) {
      const deliveries = stored.flatMap((message) => [
        other.deliver(message),
        pass(0).then(() => other.deliver(message)),
      ]);
      const all = Promise.allSettled(deliveries);
      await pass(65_000);
      await all;
      stored = messages.splice(0);
      counts.push(stored.length);
    }
    ends.resolve();
    await first;
    expect(counts).toEqual([1, 1, 1, 1, 1]);
  });

  test('[T13] of an undo, whose message lives for weeks, blocks nobody for as long', async () => {
    const { one, other, deliver, began, ends, ran } = setUpQueue();
    await one.start('undoes', {});
    await pass(2 * 3_600_000, 60_000);
    const first = deliver(one);
    await began.promise;
    await pass(2 * 3_600_000, 10_000);
    const second = deliver(other);
    await pass(70_000);
    expect(ran).toEqual(['pay', 'pay']);
    ends.resolve();
    await Promise.all([first, second]);
  });
});

test('[T13] a lease that lasts longer than a timer can is renewed no earlier', async () => {
  const renewals: unknown[] = [];
  const { begin, ends } = await setUp(
    () => ({ renew: () => renewals.push('renewed') > 0 }),
    80 * 86_400_000,
  );
  const { first } = await begin();
  await pass(60_000);
  expect(renewals).toEqual([]);
  ends.resolve();
  await first;
});
