import { describe, expect, it, test } from 'vitest';
import { storeGuard } from '@mcp-saga/server/stores';
import { memoryEntryStore } from '../../src/store/memory-entry-store.ts';
import {
  entryStoreConformance,
  guardConformance,
  type EntryStoreUnderTest,
} from '../../../testing/src/guard.ts';
import { claim, fenceOf } from '../../../../test/support/guard-claims.ts';
import { guardsOn } from '../../../../test/support/shifted-store.ts';
import { testClock } from '../fixtures/clock.ts';
import { absentClientsSuite } from './absent-clients-suite.ts';
import { guardedHostsSuite } from './guarded-hosts-suite.ts';
import type { GuardUnderTest } from './guard-under-test.ts';
import { interruptedTurnsSuite } from './interrupted-turns-suite.ts';
import { lateCopiesSuite } from './late-copies-suite.ts';
import { lostClientsSuite } from './lost-clients-suite.ts';
import { repeatedTurnsSuite } from './repeated-turns-suite.ts';
import { wokenSagasSuite } from './woken-sagas-suite.ts';

async function stores(): Promise<EntryStoreUnderTest> {
  const clock = testClock();
  const store = memoryEntryStore({ clock });
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  return { store, elsewhere: store, now: clock, pass };
}

/** Each process has a guard of its own on the store that they share. */
const onStore = async (): Promise<GuardUnderTest> => guardsOn(await stores());

describe('a store of entries in memory', () => {
  for (const { title, run } of entryStoreConformance(stores, { isRemote: false }))
    it(`[T13] ${title}`, run);
});
describe('a guard on a store of entries', () => {
  for (const { title, run } of guardConformance(onStore, { runs: 1_000 }))
    it(`[T13] ${title}`, run);
});

test('[T13] forgets a turn after a renewal, although reads of the store are late', async () => {
  const { store, now } = await stores();
  const guard = storeGuard({
    write: (...entry) => store.write(...entry),
    remove: (...entry) => store.remove(...entry),
    // A replica that has received nothing yet.
    read: () => undefined,
  });
  const unused = { ...claim({ expiresAt: now() + 3_600_000 }), request: 'answers' };
  const fence = fenceOf(await guard.begin(unused));
  expect(await guard.renew(fence)).toBe(true);
  expect(await guard.forget(fence)).toBe(true);
  expect(await guard.begin({ ...unused, digest: 'other answers' })).toHaveProperty('run');
});

guardedHostsSuite('on a store of entries', onStore);
absentClientsSuite('on a store of entries', onStore);
repeatedTurnsSuite('on a store of entries', onStore);
wokenSagasSuite('on a store of entries', onStore);
lostClientsSuite('on a store of entries', onStore);
lateCopiesSuite('on a store of entries', onStore, { runs: 60 });
interruptedTurnsSuite('on a store of entries', onStore);
