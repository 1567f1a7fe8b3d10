import { SealError } from '@mcp-saga/seal';
import type { SagaHostError } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { earlyLoadMs, LoadedKeys, loadTimeoutMs } from '../../src/settings/loaded-keys.ts';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { deferred, type Deferred } from '../fixtures/deferred.ts';

interface Ring {
  readonly name: string;
}

interface Timer {
  readonly ms: number;
  readonly signal: AbortSignal;
  fire(): void;
}

interface Loading {
  readonly keys: LoadedKeys<Ring>;
  readonly clock: TestClock;
  readonly loads: Deferred<Ring>[];
  readonly timers: Timer[];
  readonly errors: SagaHostError[];
}

const refreshMs = 300_000;

/** Keys whose loads and timers are settled by the test. */
function loading(): Loading {
  const clock = testClock();
  const loads: Deferred<Ring>[] = [];
  const timers: Timer[] = [];
  const errors: SagaHostError[] = [];
  const keys = new LoadedKeys<Ring>({
    load: () => {
      const load = deferred<Ring>();
      loads.push(load);
      return load.promise;
    },
    refreshMs,
    clock,
    sleep: (ms, signal) => new Promise((fire) => timers.push({ ms, signal, fire })),
    onError: (error) => errors.push(error),
  });
  return { keys, clock, loads, timers, errors };
}

/** Lets all that is ready run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Keys after their first load. */
async function loaded(name = 'first'): Promise<Loading> {
  const all = loading();
  const got = all.keys.get();
  await settled();
  all.loads[0]?.resolve({ name });
  expect(await got).toEqual({ name });
  return all;
}

const down = { code: 'keys_down', public: true };

describe('the first load', () => {
  test('[T7] begins with the first use, and all concurrent callers share it', async () => {
    const { keys, loads } = loading();
    await settled();
    expect(loads).toHaveLength(0);
    const waiting = [keys.get(), keys.get(), keys.get()].map(async (got) => await got);
    await settled();
    expect(loads).toHaveLength(1);
    loads[0]?.resolve({ name: 'first' });
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ name: 'first' })));
    expect(keys.get()).toEqual({ name: 'first' });
  });

  test('[E10] fails for all waiting callers, and for later requests until the next attempt', async () => {
    const { keys, loads, clock, errors } = loading();
    const waiting = Promise.allSettled([keys.get(), keys.get()]);
    await settled();
    loads[0]?.reject(new Error('no route'));
    for (const one of await waiting)
      expect(one).toMatchObject({ status: 'rejected', reason: down });
    expect(errors).toMatchObject([{ code: 'keys_down', public: false }]);
    await expect(keys.get()).rejects.toMatchObject(down);
    expect(loads).toHaveLength(1);
    clock.now += 1_000;
    const again = keys.get();
    await settled();
    loads[1]?.resolve({ name: 'second' });
    expect(await again).toEqual({ name: 'second' });
  });

  test('[U4] times out for its callers, and its keys are used when they arrive', async () => {
    const { keys, loads, timers, errors } = loading();
    const waiting = Promise.allSettled([keys.get()]);
    await settled();
    expect(timers.map(({ ms }) => ms)).toEqual([loadTimeoutMs]);
    timers[0]?.fire();
    expect(await waiting).toMatchObject([{ status: 'rejected', reason: down }]);
    expect(errors.map(({ code }) => code)).toEqual(['keys_down']);
    loads[0]?.resolve({ name: 'late' });
    await settled();
    expect(keys.get()).toEqual({ name: 'late' });
    expect(errors).toHaveLength(1);
  });

  test('of another request delays a caller at most for the rest of its timeout', async () => {
    const { keys, clock, timers } = loading();
    void keys.get();
    clock.now += 4_000;
    void keys.get();
    await settled();
    expect(timers.map(({ ms }) => ms)).toEqual([loadTimeoutMs, loadTimeoutMs - 4_000]);
  });

  test('leaves no timer', async () => {
    const { timers } = await loaded();
    expect(timers.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe('a refresh', () => {
  test('[T7] runs in the background, once, while the loaded keys are used', async () => {
    const { keys, loads, clock } = await loaded();
    clock.now += refreshMs - 1;
    expect(keys.get()).toEqual({ name: 'first' });
    await settled();
    expect(loads).toHaveLength(1);
    clock.now += 1;
    const works: Promise<unknown>[] = [];
    for (let times = 0; times < 5; times += 1)
      expect(keys.get((work) => works.push(work))).toEqual({ name: 'first' });
    await settled();
    expect(loads).toHaveLength(2);
    // Each request keeps the runtime alive: the request that began the load may end first.
    expect(works).toHaveLength(5);
    loads[1]?.resolve({ name: 'second' });
    await Promise.all(works);
    expect(keys.get()).toEqual({ name: 'second' });
    clock.now += refreshMs - 1;
    void keys.get();
    await settled();
    expect(loads).toHaveLength(2);
  });

  test('[T7] that fails is reported and retried with a growing delay, and the keys stay', async () => {
    const { keys, loads, clock, errors } = await loaded();
    clock.now += refreshMs;
    const delays: number[] = [];
    for (let failures = 0; failures < 9; failures += 1) {
      void keys.get();
      await settled();
      loads.at(-1)?.reject(new Error('down'));
      await settled();
      expect(errors).toHaveLength(failures + 1);
      const count = loads.length;
      const failedAt = clock.now;
      while (loads.length === count) {
        clock.now += 500;
        expect(keys.get()).toEqual({ name: 'first' });
        await settled();
      }
      delays.push(clock.now - failedAt);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    loads.at(-1)?.resolve({ name: 'second' });
    await settled();
    expect(keys.get()).toEqual({ name: 'second' });
    // The next failure begins with the shortest delay again.
    clock.now += refreshMs;
    void keys.get();
    await settled();
    loads.at(-1)?.reject(new Error('down'));
    await settled();
    const count = loads.length;
    clock.now += 1_000;
    void keys.get();
    await settled();
    expect(loads).toHaveLength(count + 1);
  });

  test('that never ends counts as failed, and its late keys do not replace those of a later load', async () => {
    const { keys, loads, clock, errors } = await loaded();
    clock.now += refreshMs;
    void keys.get();
    await settled();
    clock.now += loadTimeoutMs - 1;
    void keys.get();
    expect(errors).toHaveLength(0);
    clock.now += 1;
    void keys.get();
    expect(errors.map(({ code }) => code)).toEqual(['keys_down']);
    clock.now += 1_000;
    void keys.get();
    await settled();
    expect(loads).toHaveLength(3);
    loads[2]?.resolve({ name: 'third' });
    await settled();
    loads[1]?.resolve({ name: 'second' });
    await settled();
    expect(keys.get()).toEqual({ name: 'third' });
    expect(errors).toHaveLength(1);
  });

  test('begins in a request only, through waitUntil, and not through the sealers of the host', async () => {
    const { keys, loads, clock } = await loaded();
    clock.now += refreshMs;
    expect(keys.newest()).toEqual({ name: 'first' });
    await settled();
    expect(loads).toHaveLength(1);
    // Without keys, the sealers wait for a load.
    const fresh = loading();
    const got = fresh.keys.newest();
    await settled();
    fresh.loads[0]?.resolve({ name: 'fresh' });
    expect(await got).toEqual({ name: 'fresh' });
  });

  test('is not delayed by a clock that was set back', async () => {
    const { keys, loads, clock } = await loaded();
    clock.now -= 3_600_000;
    void keys.get();
    await settled();
    expect(loads).toHaveLength(2);
  });
});

describe('a token with an unknown key', () => {
  test('[T7] is opened with the key of another process after an early load', async () => {
    const { keys, loads, clock } = await loaded();
    clock.now += earlyLoadMs;
    const newer = keys.newerThan(await keys.get());
    await settled();
    expect(loads).toHaveLength(2);
    loads[1]?.resolve({ name: 'second' });
    expect(await newer).toEqual({ name: 'second' });
    // The early load counts as the refresh.
    clock.now += refreshMs - 1;
    void keys.get();
    await settled();
    expect(loads).toHaveLength(2);
  });

  test('[T5] cannot cause loads at will: many such tokens cause one load in ten seconds', async () => {
    const { keys, loads, clock } = await loaded();
    const known = await keys.get();
    const began = clock.now;
    for (let requests = 0; requests < 600; requests += 1) {
      clock.now += 100;
      const asked = keys.newerThan(known);
      await settled();
      loads.at(-1)?.resolve(known);
      expect(await asked).toBeUndefined();
    }
    expect(loads.length - 1).toBe(Math.floor((clock.now - began) / earlyLoadMs));
  });

  test('waits for a load that already runs', async () => {
    const { keys, loads, clock } = await loaded();
    const known = await keys.get();
    clock.now += refreshMs;
    void keys.get();
    const asked = [keys.newerThan(known), keys.newerThan(known)];
    await settled();
    expect(loads).toHaveLength(2);
    loads[1]?.resolve({ name: 'second' });
    expect(await Promise.all(asked)).toEqual([{ name: 'second' }, { name: 'second' }]);
  });

  test('[E10] is refused with a retryable error while the source is down, without a load', async () => {
    const { keys, loads, clock } = await loaded();
    const known = await keys.get();
    clock.now += earlyLoadMs;
    const asked = keys.newerThan(known);
    await settled();
    loads[1]?.reject(new Error('down'));
    await expect(asked).rejects.toMatchObject(down);
    clock.now += 999;
    await expect(keys.newerThan(known)).rejects.toMatchObject(down);
    expect(loads).toHaveLength(2);
    clock.now += 1;
    const again = keys.newerThan(known);
    await settled();
    loads[2]?.resolve({ name: 'third' });
    expect(await again).toEqual({ name: 'third' });
  });
});

test('[T5] many unknown keys do not shorten the delay after failures', async () => {
  const { keys, loads, clock } = await loaded();
  const known = await keys.get();
  clock.now += earlyLoadMs;
  for (let seconds = 0; seconds < 600; seconds += 1) {
    const asked = Promise.allSettled([keys.newerThan(known)]);
    await settled();
    loads.at(-1)?.reject(new Error('down'));
    expect(await asked).toMatchObject([{ reason: down }]);
    clock.now += 1_000;
  }
  // 1, 2, 4, 8, 16, and 32 seconds, and every minute after 63 seconds.
  expect(loads).toHaveLength(1 + 1 + 6 + Math.floor((600 - 63) / 60));
});

describe('the report of a failed load', () => {
  const secret = 'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';

  test.each([
    [
      'the class and the code of a foreign error',
      Object.assign(new RangeError(secret), { code: 'E_KMS' }),
      'RangeError (E_KMS)',
    ],
    [
      'the numeric code of a foreign error',
      Object.assign(new Error(secret), { code: 7 }),
      'Error (7)',
    ],
    ['no code with foreign text', Object.assign(new Error(secret), { code: secret }), 'Error.'],
    ['a value that is not an error', secret, 'not an Error'],
    [
      'the message of a bad key, which has its position',
      new SealError('keys', 'key 2 of 2 has 5 bytes'),
      'key 2 of 2 has 5 bytes',
    ],
  ])('[T7] contains %s, and never a key', async (_, thrown, expected) => {
    const { keys, loads, errors } = loading();
    const got = Promise.allSettled([keys.get()]);
    await settled();
    loads[0]?.reject(thrown);
    const [result] = await got;
    expect(errors[0]?.message).toContain(expected);
    expect(errors[0]?.cause).toBeUndefined();
    for (const error of [errors[0], (result as PromiseRejectedResult).reason as Error])
      expect(`${String(error)} ${JSON.stringify(error)} ${error?.stack}`).not.toContain(secret);
  });

  test('distinguishes failed requests from requests with the keys of the last load', async () => {
    const first = loading();
    const got = Promise.allSettled([first.keys.get()]);
    await settled();
    first.loads[0]?.reject(new Error());
    await got;
    expect(first.errors[0]?.message).toContain('Requests fail');
    const later = await loaded();
    later.clock.now += refreshMs;
    void later.keys.get();
    await settled();
    later.loads[1]?.reject(new Error());
    await settled();
    expect(later.errors[0]?.message).toContain('continues');
  });
});
