import { memoryGuard, memoryTaskStore } from '@mcp-saga/server';
import { describe, it } from 'vitest';
import { guardConformance, taskStoreConformance } from '../../../testing/src/guard.ts';
import { testClock } from '../fixtures/clock.ts';
import { absentClientsSuite } from './absent-clients-suite.ts';
import { guardedHostsSuite } from './guarded-hosts-suite.ts';
import type { GuardUnderTest } from './guard-under-test.ts';
import { interruptedTurnsSuite } from './interrupted-turns-suite.ts';
import { lateCopiesSuite } from './late-copies-suite.ts';
import { lostClientsSuite } from './lost-clients-suite.ts';
import { repeatedTurnsSuite } from './repeated-turns-suite.ts';
import { wokenSagasSuite } from './woken-sagas-suite.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { memoryGuardLog } from '../../../../test/support/known-logs.ts';

expectLogs(memoryGuardLog);

async function memory(): Promise<GuardUnderTest> {
  const clock = testClock();
  const guard = memoryGuard({ clock });
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  return { guard, elsewhere: guard, now: clock, pass };
}

describe('a guard in memory', () => {
  for (const { title, run } of guardConformance(memory, { runs: 1_000 })) it(`[T13] ${title}`, run);
});
guardedHostsSuite('in memory', memory);
absentClientsSuite('in memory', memory);
repeatedTurnsSuite('in memory', memory);
wokenSagasSuite('in memory', memory);
lostClientsSuite('in memory', memory);
lateCopiesSuite('in memory', memory, { runs: 60 });
interruptedTurnsSuite('in memory', memory);
describe('a store of tasks in memory', () => {
  const make = async () => {
    const clock = testClock();
    const store = memoryTaskStore({ clock });
    const pass = async (ms: number): Promise<void> => void (clock.now += ms);
    return { store, elsewhere: store, now: clock, pass };
  };
  for (const { title, run } of taskStoreConformance(make)) it(title, run);
});
