import { describe, expect, it } from 'vitest';
import { TurnBudget } from '../src/program-parts.ts';
import { runtimeOf, World, type RuntimeMembers } from './support/world.ts';

const slept: number[] = [];
function budgetOf(fields: RuntimeMembers = {}): TurnBudget {
  slept.length = 0;
  const runtime = runtimeOf(new World(), {
    replace: { sleep: async (ms) => void slept.push(ms), deadline: 2000, maxHold: 500, ...fields },
  });
  return new TurnBudget(runtime);
}

describe('the budget of a turn', () => {
  it('[U4] has time until its deadline or its abort', () => {
    expect(budgetOf().hasTime(1000)).toBe(true);
    expect(budgetOf().hasTime(2000)).toBe(false);
    expect(budgetOf({ stops: AbortSignal.abort() }).hasTime(1000)).toBe(false);
    const last = budgetOf({ deadline: 0, stops: AbortSignal.abort() });
    last.runToEnd();
    expect(last.hasTime(1000)).toBe(true);
  });

  it.each<[RuntimeMembers, boolean, boolean, boolean]>([
    [{}, false, false, false],
    [{}, false, true, false],
    [{}, true, false, true],
    [{ deadline: 1000 }, false, false, true],
    [{ defersEffects: 'all' }, false, false, true],
    [{ defersEffects: 'vital' }, false, false, false],
    [{ defersEffects: 'vital' }, false, true, true],
    [{ defersEffects: 'vital', tokenBytes: 9 }, false, true, false],
    [{ defersEffects: 'untold' }, false, false, false],
    [{ defersEffects: 'untold' }, false, true, true],
    [{ defersEffects: 'untold', tokenBytes: 9 }, false, true, false],
  ])(
    '[U4] [E1] defers effects by %j, before a commit: %s, vital: %s',
    (fields, waitsForCommit, isVital, expected) => {
      expect(budgetOf(fields).defers(1000, waitsForCommit, isVital)).toBe(expected);
    },
  );

  it('runs every effect if no state can be sealed, unless all effects are deferred', () => {
    const all: readonly RuntimeMembers[] = [
      { deadline: 0 },
      { defersEffects: 'vital' },
      { defersEffects: 'all' },
    ];
    for (const fields of all) {
      const budget = budgetOf(fields);
      budget.runToEnd();
      expect(budget.defers(1000, true, true)).toBe(fields.defersEffects === 'all');
    }
  });

  it.each([
    ['what is due', {}, 0, false, undefined],
    ['a wait that fits', {}, 500, false, 500],
    ['a wait that is longer than the hold', {}, 501, false, undefined],
    ['a wait past the deadline', { deadline: 1100 }, 200, false, undefined],
    ['a part of a long wait', { holdsParts: true }, 9000, false, 500],
    ['a wait before a commit', { holdsParts: true }, 100, true, undefined],
    ['a wait that the client cannot be kept for', { maxWait: 400 }, 501, false, 'hopeless'],
    ['a wait without a deadline', { deadline: undefined }, 9000, false, 9000],
    [
      'a long wait of a client without a token',
      { deadline: undefined, maxWait: 400 },
      401,
      false,
      'hopeless',
    ],
    ['a wait in a turn without time', { deadline: 1000, maxWait: 400 }, 9000, false, undefined],
  ] as const)('[W6] decides on %s', (_, fields, ms, isUncommitted, expected) => {
    const budget = budgetOf({ ...fields, commitsEach: true });
    if (isUncommitted) budget.uncommitted.note('step');
    expect(budget.waitUntil(1000 + ms, 1000)).toBe(expected);
  });

  it('[E1] commits within the budget, and commits an undo at any time', () => {
    expect(budgetOf({ now: () => 1000 }).mayCommit('step')).toBe(true);
    for (const fields of [{ deadline: 1000 }, { defersEffects: 'all' as const }]) {
      expect(budgetOf({ now: () => 1000, ...fields }).mayCommit('step')).toBe(false);
      expect(budgetOf({ now: () => 1000, ...fields }).mayCommit('undo')).toBe(true);
    }
  });

  it('[E1] runs vital effects after the first commit', () => {
    const budget = budgetOf({ defersEffects: 'vital' });
    budget.committed(
      runtimeOf(new World(), {
        replace: { defersEffects: 'vital', deadline: 5000, tokenBytes: 9 },
      }),
    );
    expect(budget.defers(3000, false, true)).toBe(false);
  });

  it('[W6] does not fail internal waits', () => {
    expect(budgetOf({ maxWait: 400 }).waitUntil(1501, 1000, false)).toBeUndefined();
  });

  it('[W6] counts the time that the request was held', async () => {
    const budget = budgetOf({ maxWait: 600 });
    await budget.hold(300);
    expect(slept).toEqual([300]);
    expect(budget.waitUntil(1200, 1000)).toBe(200);
    expect(budget.waitUntil(1201, 1000)).toBeUndefined();
    expect(budget.waitUntil(1301, 1000)).toBe('hopeless');
  });
});
