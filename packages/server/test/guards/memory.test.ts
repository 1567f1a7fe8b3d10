import { memoryStore } from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import { describe, expect, it, test } from 'vitest';
import { storeConformance, type StoreUnderTest } from '../../../testing/src/stores.ts';
import { testClock } from '../fixtures/clock.ts';
import { absentClientsSuite } from './absent-clients-suite.ts';
import { guardedHostsSuite } from './guarded-hosts-suite.ts';
import { interruptedTurnsSuite } from './interrupted-turns-suite.ts';
import { lateCopiesSuite } from './late-copies-suite.ts';
import { lostClientsSuite } from './lost-clients-suite.ts';
import { repeatedTurnsSuite } from './repeated-turns-suite.ts';
import { wokenSagasSuite } from './woken-sagas-suite.ts';
import { claim, fenceOf } from '../../../../test/support/guard-claims.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';

expectLogs(restartLog);

async function memory(): Promise<StoreUnderTest> {
  const clock = testClock();
  const store = memoryStore({ clock });
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  return { store, elsewhere: store, now: clock, pass };
}

describe('a store in memory', () => {
  for (const { title, run } of storeConformance(memory, { isRemote: false, runs: 1_000 }))
    it(`[T13] ${title}`, run);

  it('removes expired entries', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const write = (group: string) =>
      store.write({ group, name: 'task' }, { head: 'task', body: 'x' }, 0, {
        expiresAtMs: clock.now + 1_000,
      });
    await write('a');
    clock.now += 999;
    expect(await store.read({ group: 'a', name: 'task' })).toBeDefined();
    clock.now += 1;
    expect(await store.read({ group: 'a', name: 'task' })).toBeUndefined();
    await write('b');
    expect(store.size).toBe(1);
  });

  it('removes lists after their time', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const append = (group: string) =>
      store.append({ group, name: 'slot' }, 'sealed', {
        expiresAtMs: clock.now + 5_000,
        maxValues: 1,
      });
    await append('one');
    clock.now += 5_000;
    expect(await store.list('one')).toEqual({ values: [], isClosed: false });
    await append('two');
    expect(store.size).toBe(1);
  });

  it('refuses an unknown option', () => {
    expect(() => memoryStore({ time: 1 } as object)).toThrow(TypeError);
  });
});

test('[T13] forgets a turn after a renewal, although reads of the store are late', async () => {
  const { store, now } = await memory();
  // A replica that has received nothing yet.
  const guard = storeGuard({ ...store, read: () => undefined });
  const unused = { ...claim({ expiresAt: now() + 3_600_000 }), request: 'answers' };
  const fence = fenceOf(await guard.begin(unused));
  expect(await guard.renew(fence)).toBe(true);
  expect(await guard.forget(fence)).toBe(true);
  expect(await guard.begin({ ...unused, digest: 'other answers' })).toHaveProperty('run');
});

guardedHostsSuite('in memory', memory);
absentClientsSuite('in memory', memory);
repeatedTurnsSuite('in memory', memory);
wokenSagasSuite('in memory', memory);
lostClientsSuite('in memory', memory);
lateCopiesSuite('in memory', memory, { runs: Number(process.env['SAGA_RUNS'] ?? 60) });
interruptedTurnsSuite('in memory', memory);
