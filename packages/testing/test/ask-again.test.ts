import {
  approval,
  continueAs,
  elicit,
  ElicitationRefused,
  saga,
  sample,
  step,
  type Program,
} from '@mcp-saga/server';
import { refuseEverywhere, testSaga, type ExploredCase, type TestSaga } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { asksTwice } from './broken/sagas.ts';
import { messageOf } from './support/error-of.ts';

const Sure = z.object({ sure: z.boolean() });

/** Asks until the user is sure. */
const insists = saga({ name: 'insists', version: '1' }, function* () {
  for (;;) {
    try {
      const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
      if (sure) return 'sure';
    } catch (error) {
      if (!(error instanceof ElicitationRefused)) throw error;
    }
  }
});

/** Asks again in a new saga. */
const startsOver: Program = saga({ name: 'startsOver', version: '1' }, function* () {
  const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
  return sure ? 'sure' : yield* continueAs(startsOver as never, {});
});

const asksModel = saga({ name: 'asksModel', version: '1' }, function* () {
  for (;;) {
    const content = { type: 'text', text: 'Fine?' } as const;
    const said = yield* sample('fine', { messages: [{ role: 'user', content }], maxTokens: 9 });
    if (JSON.stringify(said).includes('Yes')) return 'fine';
  }
});

const asksBoss = saga({ name: 'asksBoss', version: '1' }, function* () {
  for (;;) {
    const options = { deliver: () => 'sent', link: 'accept', timeout: 60_000 } as const;
    const { approved } = yield* approval('boss', { message: 'Buy?', ...options });
    if (approved) return 'bought';
  }
});

const options = { maxTurns: 9 };
const scripts: readonly (readonly [string, TestSaga])[] = [
  ['in a loop', testSaga(insists, options)],
  [
    'in a loop, with the answers of a script',
    testSaga(insists, options).on.elicit('sure', { sure: true }),
  ],
  ['in a new saga', testSaga(startsOver, options)],
  ['its model', testSaga(asksModel, options)],
  ['another person', testSaga(asksBoss, options)],
];

describe('a saga that asks until the answer is yes', () => {
  it.each(scripts)(
    '[W4] ends in each case of refuseEverywhere if it asks %s',
    async (_, script) => {
      const seen: ExploredCase[] = [];
      await refuseEverywhere(script, { onCase: (each) => void seen.push(each) });
      const ends = new Set(seen.map(({ trace }) => trace.at(-1)?.type));
      expect([...ends].filter((type) => type !== 'completed' && type !== 'gaveUp')).toEqual([]);
      // The saga asked again, and took the answer of the undisturbed run.
      const again = seen.filter(({ trace }) => / \w+(?:#2|@1)/.test(String(trace)));
      expect(again.map(({ trace }) => trace.at(-1)?.type)).toContain('completed');
    },
  );

  it('[W4] is also refused each time that an undisturbed run asks', async () => {
    const pays = saga({ name: 'pays', version: '1' }, function* () {
      let refusals = 0;
      for (let round = 0; round < 2; round += 1)
        try {
          yield* elicit('sure', { message: 'Sure?', schema: Sure });
        } catch (error) {
          if (!(error instanceof ElicitationRefused)) throw error;
          refusals += 1;
        }
      if (refusals < 2) return 'sure';
      yield* step('pay', () => 5);
      throw new Error('Nobody is sure.');
    });
    const script = testSaga(pays).on.elicit('sure', { sure: true });
    const message = await messageOf(refuseEverywhere(script));
    expect(message).toMatch(/^When 'sure' is declined each time: 'pay'/);
    expect(message).toContain(".refuse.elicit('sure#2')");
  });

  it('[W4] fails in a printed test that repeats only the first answer', async () => {
    const script = testSaga(asksTwice, options).on.elicit('sure', { sure: true });
    const message = await messageOf(refuseEverywhere(script));
    expect(message).toMatch(
      /^When 'sure' is answered with sure: false: its body throws a TypeError/,
    );
    expect(message).toContain(
      ".on.elicit('sure', { sure: true })\n      .on.elicit('sure#1', { sure: false })\n",
    );
    const auto = await messageOf(refuseEverywhere(testSaga(asksTwice, options)));
    expect(auto).toContain(
      ".on.elicit('sure#2', { sure: true })\n      .on.elicit('sure#1', { sure: false })\n",
    );
  });
});
