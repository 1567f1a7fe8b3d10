import { createSagaHost, elicit, memoryGuard, saga, step, type SagaGuard } from '@mcp-saga/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { deferred } from '../fixtures/deferred.ts';
import { hooksInto, nothingTold, oldKey, suspended } from '../fixtures/host.ts';

const lease = 60_000;
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

/** Advances the time by seconds, and lets the work of each second end. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await vi.advanceTimersByTimeAsync(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Two hosts that share a guard, whose saga has a step that lasts until `ends` resolves. */
async function setUp(changes: (guard: SagaGuard) => Partial<SagaGuard> = () => ({})) {
  const ends = deferred<void>();
  const began = deferred<void>();
  const ran: string[] = [];
  const slow = saga({ name: 'slow', version: '1', forks: 'refuse' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Ok });
    yield* step('pay', async () => {
      ran.push('pay');
      began.resolve();
      await ends.promise;
    });
    return 'paid';
  });
  const guard = memoryGuard();
  const told = nothingTold();
  const hosts = [changes(guard), {}].map((change) =>
    createSagaHost({
      sagas: [slow],
      keys: oldKey,
      audience: 'test',
      guard: { store: { ...guard, ...change }, leaseMs: lease },
      hooks: hooksInto(told),
      testing: { environment: 'production' },
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

  test('[T13] is not renewed after its token has expired, so that it blocks nobody forever', async () => {
    const renewals: number[] = [];
    const { begin, ends } = await setUp((guard) => ({
      renew: async (...renewal) => renewals.push(Date.now()) > 0 && (await guard.renew(...renewal)),
    }));
    const { first } = await begin();
    const began = Date.now();
    await pass(2 * 3_600_000);
    expect(renewals.length).toBeGreaterThan(100);
    expect((renewals.at(-1) ?? 0) - began).toBeLessThanOrEqual(3_600_000);
    ends.resolve();
    expect(await first).toMatchObject({ result: 'paid' });
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
