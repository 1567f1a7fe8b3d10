import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import { checkpoint, saga as sagaOf, step, type Program } from '@mcp-saga/server';
import { beforeEach, expect, it } from 'vitest';
import * as sagas from './broken/sagas.ts';
import { messageOf } from './support/error-of.ts';

const { bank, holds } = sagas;
beforeEach(() => bank.reset());

/** Runs the suggested code. */
async function runPasted(message: string, saga: Program, check: unknown): Promise<void> {
  const code = /to paste into a test:\n\n([^]*?)\n\nWhat happened/i.exec(message)?.[1] ?? '';
  expect(code).toContain('testSaga(');
  const names = ['testSaga', 'expect', 'check', 'yourSaga'];
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- what a reader does with it
  const run = new Function(...names, `return (async () => {\n${code}\n})();`) as (
    ...args: readonly unknown[]
  ) => Promise<void>;
  await run(testSaga, expect, check, saga);
}

const before = (): void => bank.reset();
const one = (): void => expect(bank.charges).toHaveLength(1);
const never = (): void => expect.unreachable('never');
const of = (saga: Program): ReturnType<typeof testSaga> => testSaga(saga, { before });
const sure = { sure: true };

const cases: readonly [string, Program, (saga: Program) => Promise<unknown>, unknown?][] = [
  [
    'an effect that nothing undoes',
    sagas.forgetsUndo,
    (saga) => failEverywhere(of(saga).on.elicit('sure', sure)),
  ],
  ['a refusal', sagas.forgetsUndo, (saga) => refuseEverywhere(of(saga).on.elicit('sure', sure))],
  ['an effect of unknown outcome', sagas.forgetsUnknown, (saga) => failEverywhere(of(saga))],
  ['an effect without a key', sagas.chargesWithoutKey, (saga) => crashEverywhere(of(saga))],
  ['an undo without a key', sagas.refundsWithoutKey, (saga) => crashEverywhere(of(saga))],
  [
    'an effect before a token',
    sagas.chargesAtOnce,
    (saga) => crashEverywhere(of(saga).on.elicit('sure', sure)),
  ],
  ['another result', sagas.countsOutside, (saga) => crashEverywhere(of(saga))],
  [
    'a slip',
    sagas.overflows,
    (saga) => refuseEverywhere(of(saga).on.elicit('hours', { hours: 1 })),
  ],
  ['a slip after a question asked again', sagas.asksTwice, (saga) => refuseEverywhere(of(saga))],
  ['what is kept undone', sagas.forgetsFailure, (saga) => failEverywhere(of(saga))],
  [
    'an undo by its own key',
    sagas.undoesItself,
    (saga) =>
      failEverywhere(testSaga(saga, { before: () => holds.reset() }), { harmless: ['pay'] }),
  ],
  [
    'a check',
    sagas.chargesWithoutKey,
    (saga) => crashEverywhere(of(saga), { check: one, harmless: ['charge'] }),
    one,
  ],
  [
    'a check of forks',
    sagas.countsOutside,
    (saga) => forkEverywhere(of(saga), { check: never }),
    never,
  ],
  ['a fork without a key', sagas.chargesWithoutKey, (saga) => forkEverywhere(of(saga))],
];

it.each(cases)('a pasted script reproduces the violation: %s', async (_, saga, explore, check) => {
  const message = await messageOf(explore(saga));
  bank.reset();
  holds.reset();
  const error: unknown = await runPasted(message, saga, check).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  // No line of it is one that does nothing.
  expect(String(error)).not.toContain('never applied');
});

it('a pasted script has no unneeded line, even with too many rules to try each', async () => {
  const many = sagaOf({ name: 'many', version: '1', reuse: 'ok' }, function* () {
    yield* checkpoint();
    for (let n = 0; n < 50; n += 1) {
      yield* step('do', ({ idempotencyKey }) => idempotencyKey, { key: String(n) });
      if (n % 13 === 0) yield* checkpoint();
    }
    return 'done';
  });
  const check = ({ trace }: { readonly trace: readonly { readonly type: string }[] }): void => {
    if (trace.filter(({ type }) => type === 'crashed').length > 19) throw new Error('too many');
  };
  const message = await messageOf(crashEverywhere(testSaga(many), { check }));
  expect(message).toMatch(/: too many$/m);
  await expect(runPasted(message, many, check)).rejects.toThrow('too many');
});
