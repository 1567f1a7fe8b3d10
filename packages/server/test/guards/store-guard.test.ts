import { describe, it } from 'vitest';
import { storeGuard } from '../../src/guard/store-guard.ts';
import { memoryEntryStore } from '../../src/store/memory-entry-store.ts';
import { guardConformance } from '../../../testing/src/guard.ts';
import { memoryGuardLog } from '../../../../test/support/known-logs.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { testClock } from '../fixtures/clock.ts';
import { absentClientsSuite } from './absent-clients-suite.ts';
import { guardedHostsSuite } from './guarded-hosts-suite.ts';
import type { GuardUnderTest } from './guard-under-test.ts';
import { interruptedTurnsSuite } from './interrupted-turns-suite.ts';
import { lateCopiesSuite } from './late-copies-suite.ts';
import { lostClientsSuite } from './lost-clients-suite.ts';
import { repeatedTurnsSuite } from './repeated-turns-suite.ts';
import { wokenSagasSuite } from './woken-sagas-suite.ts';

expectLogs(memoryGuardLog);

async function onStore(): Promise<GuardUnderTest> {
  const clock = testClock();
  const store = memoryEntryStore({ clock });
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  // Each process has a guard of its own on the store that they share.
  return { guard: storeGuard(store), elsewhere: storeGuard(store), now: clock, pass };
}

describe('a guard on a store of entries', () => {
  for (const { title, run } of guardConformance(onStore, { runs: 1_000 }))
    it(`[T13] ${title}`, run);
});
guardedHostsSuite('on a store of entries', onStore);
absentClientsSuite('on a store of entries', onStore);
repeatedTurnsSuite('on a store of entries', onStore);
wokenSagasSuite('on a store of entries', onStore);
lostClientsSuite('on a store of entries', onStore);
lateCopiesSuite('on a store of entries', onStore, { runs: 60 });
interruptedTurnsSuite('on a store of entries', onStore);
