import { elicit, memoryStore, saga, step, type StepContext } from '@mcp-saga/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { accept, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Asks, and charges with code of the test. */
function charging(run: (context: StepContext<undefined>) => unknown) {
  const order = saga({ name: 'order', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', run, { key: 'k-4711', retry: { attempts: 3, delay: 0 } });
    return 'done';
  });
  const clock = testClock();
  const store = memoryStore({ clock, olderTokens: 'accept' });
  const sleep = async (): Promise<void> => undefined;
  return hostOf(order, { clock, store, limits: { turnBudget: 1_000 }, testing: { sleep } });
}

describe('a step that takes longer than the turn budget', () => {
  test('[U4] causes one warning, with its name and without its key', async () => {
    const ending = deferred<void>();
    const began = deferred<void>();
    const { host, told } = charging(async () => {
      began.resolve();
      await ending.promise;
    });
    const { token } = suspended(await host.start('order', {}));
    const taking = host.resume(token, [accept('sure', {})]);
    await began.promise;
    await vi.advanceTimersByTimeAsync(999);
    expect(told.warnings).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told.warnings).toHaveLength(1);
    expect(told.warnings[0]).toContain("'charge(*)' of saga 'order'");
    ending.resolve();
    expect(await taking).toMatchObject({ status: 'completed' });
  });

  test('[U4] causes no warning for the time of all its attempts, or after its end', async () => {
    let attempts = 0;
    const { host, told } = charging(async () => {
      attempts += 1;
      await vi.advanceTimersByTimeAsync(800);
      if (attempts < 3) throw new Error('503');
    });
    const { token } = suspended(await host.start('order', {}));
    expect(await host.resume(token, [accept('sure', {})])).toMatchObject({ status: 'completed' });
    expect(attempts).toBe(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told.warnings).toEqual([]);
  });

  test('[E9] [T13] keeps the token valid when its request is aborted, with an unknown outcome', async () => {
    const began = deferred<void>();
    const did: string[] = [];
    let isStuck = true;
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* step(
        'charge',
        async () => {
          if (!isStuck) throw new Error('503');
          began.resolve();
          await new Promise(() => undefined);
        },
        { compensate: () => void did.push('look up charge'), unknown: 'compensate' },
      );
      return 'done';
    });
    const clock = testClock();
    const { host } = hostOf(order, { clock, store: memoryStore({ clock }) });
    const { token } = suspended(await host.start('order', {}));
    const aborting = new AbortController();
    const taking = host.resume(token, [accept('sure', {})], { signal: aborting.signal });
    const refused = expect(taking).rejects.toThrow('aborted');
    await began.promise;
    aborting.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    isStuck = false;
    expect(await host.resume(token, [accept('sure', {})])).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
    });
    expect(did).toEqual(['look up charge']);
  });
});
