import { describe, expect, it } from 'vitest';
import { TurnBudget } from '../src/program-parts.ts';
import { runtimeOf, World, type RuntimeMembers } from './support/world.ts';

interface Given {
  readonly turnsBefore?: number;
  readonly commitFirst?: boolean;
}

const slept: number[] = [];
function budgetOf(
  fields: RuntimeMembers = {},
  { turnsBefore = 0, commitFirst = false }: Given = {},
): TurnBudget {
  slept.length = 0;
  const runtime = runtimeOf(new World(), {
    replace: { sleep: async (ms) => void slept.push(ms), deadline: 2000, maxHold: 500, ...fields },
  });
  return new TurnBudget({ runtime, turnsBefore, commitFirst });
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

  it.each([
    [{}, {}, false, false],
    [{}, {}, true, true],
    [{ deadline: 1000 }, {}, false, true],
    [{ defersEffects: true }, {}, false, true],
    [{}, { commitFirst: true }, false, true],
    [{ tokenBytes: 9 }, { commitFirst: true }, false, false],
    [{}, { commitFirst: true, turnsBefore: 1 }, false, false],
  ])(
    '[U4] [E1] defers effects by %j, %j, uncommitted: %s',
    (fields, options, isUncommitted, expected) => {
      expect(budgetOf(fields, options).defers(1000, isUncommitted)).toBe(expected);
    },
  );

  it('[E1] runs a repeatable effect before the client has a token', () => {
    expect(budgetOf({}, { commitFirst: true }).defers(1000, false, true)).toBe(false);
  });

  it('runs every effect if no state can be sealed, unless effects are deferred', () => {
    for (const fields of [{ deadline: 0 }, { defersEffects: true }]) {
      const budget = budgetOf(fields, { commitFirst: true });
      budget.runToEnd();
      expect(budget.defers(1000, true)).toBe(fields.defersEffects === true);
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
    expect(budgetOf(fields).waitUntil(1000 + ms, 1000, isUncommitted, false)).toBe(expected);
  });

  it.each<[string, RuntimeMembers, number, number | undefined]>([
    ['does not hold a long wait of a client without a token', {}, 1000, undefined],
    ['holds a wait below a second', {}, 999, 999],
    ['holds a wait of a client with a token', { tokenBytes: 9 }, 1000, 1000],
    ['holds a wait of a client that cannot return', { maxWait: 999 }, 1000, 1000],
    ['holds a wait without a deadline', { deadline: undefined }, 1000, 1000],
    ['does not hold a part of a long wait', { holdsParts: true }, 9000, undefined],
  ])('[E8] %s, if an end would undo something', (_, fields, ms, expected) => {
    const budget = budgetOf({ maxHold: 5000, deadline: 20_000, ...fields });
    expect(budget.waitUntil(1000 + ms, 1000, false, true)).toBe(expected);
  });

  it('[E8] adds up the short waits of a client without a token', async () => {
    const budget = budgetOf({ maxHold: 5000, deadline: 20_000 });
    await budget.hold(600);
    expect(budget.waitUntil(1399, 1000, false, true)).toBe(399);
    expect(budget.waitUntil(1400, 1000, false, true)).toBeUndefined();
  });

  it('[E1] commits within the budget, and commits an undo at any time', () => {
    expect(budgetOf({ now: () => 1000 }).mayCommit('step')).toBe(true);
    for (const fields of [{ deadline: 1000 }, { defersEffects: true }]) {
      expect(budgetOf({ now: () => 1000, ...fields }).mayCommit('step')).toBe(false);
      expect(budgetOf({ now: () => 1000, ...fields }).mayCommit('undo')).toBe(true);
    }
  });

  it('[E1] runs effects of a saga with commitFirst after the first commit', () => {
    const budget = budgetOf({}, { commitFirst: true });
    budget.committed(runtimeOf(new World(), { replace: { deadline: 5000, tokenBytes: 9 } }));
    expect(budget.defers(3000, false)).toBe(false);
  });

  it('[W6] does not fail internal waits', () => {
    expect(budgetOf({ maxWait: 400 }).waitUntil(1501, 1000, false, false, false)).toBeUndefined();
  });

  it('[W6] counts the time that the request was held', async () => {
    const budget = budgetOf({ maxWait: 600 });
    await budget.hold(300);
    expect(slept).toEqual([300]);
    expect(budget.waitUntil(1200, 1000, false, false)).toBe(200);
    expect(budget.waitUntil(1201, 1000, false, false)).toBeUndefined();
    expect(budget.waitUntil(1301, 1000, false, false)).toBe('hopeless');
  });
});
