import { memoryGuard, memoryTaskStore } from '@mcp-saga/server';
import { testClock } from '../fixtures/clock.ts';
import { absentClientsSuite } from './absent-clients-suite.ts';
import { guardSuite } from './guard-suite.ts';
import { guardedHostsSuite } from './guarded-hosts-suite.ts';
import type { GuardUnderTest } from './guard-under-test.ts';
import { interruptedTurnsSuite } from './interrupted-turns-suite.ts';
import { lostClientsSuite } from './lost-clients-suite.ts';
import { repeatedTurnsSuite } from './repeated-turns-suite.ts';
import { taskStoreSuite } from './task-store-suite.ts';

async function memory(): Promise<GuardUnderTest> {
  const clock = testClock();
  const guard = memoryGuard(clock);
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  return { guard, elsewhere: guard, now: clock, pass };
}

guardSuite('in memory', memory, 1_000);
guardedHostsSuite('in memory', memory);
absentClientsSuite('in memory', memory);
repeatedTurnsSuite('in memory', memory);
lostClientsSuite('in memory', memory);
interruptedTurnsSuite('in memory', memory);
taskStoreSuite('in memory', async () => {
  const clock = testClock();
  const store = memoryTaskStore(clock);
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  return { store, elsewhere: store, now: clock, pass };
});
