import { elicit, saga, step, type Program } from '@mcp-saga/server';
import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  Provider,
  refuseEverywhere,
  testSaga,
  type TestSaga,
} from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import { machineSaga, step as stepInMachine } from '@mcp-saga/xstate';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { errorOf, messageOf } from './support/error-of.ts';

const Sure = z.object({ sure: z.boolean() });

/** Looks before its client has a token, asks, looks again, and may then end with an error. */
const looking = (reads: boolean, ends: 'well' | 'badly' = 'well'): Program =>
  saga({ name: 'looking', version: '1', reuse: 'ok' }, function* () {
    yield* step('look', () => 1, { reads });
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    yield* step('look', () => 2, { reads, key: 'again' });
    if (ends === 'badly') throw new Error('nothing found');
    return 'looked';
  });
const scriptOf = (program: Program): TestSaga =>
  testSaga(program).on.elicit('sure', { sure: true });
const failing = (reads: boolean): TestSaga =>
  scriptOf(looking(reads, 'badly')).expectFailure('nothing found');

type Explorer = (script: TestSaga) => Promise<unknown>;
const afterCrash: Explorer = (script) => crashEverywhere(script, { afterCrash: 'fail' });
const property: Explorer = async ({ saga: program }) =>
  await fc.assert(sagaProperty(program, {}), { seed: 7, numRuns: 40 });

const explorers: readonly [name: string, explore: Explorer][] = [
  ['crashEverywhere', crashEverywhere],
  ['crashEverywhere with afterCrash', afterCrash],
  ['failEverywhere', failEverywhere],
  ['forkEverywhere', forkEverywhere],
  ['sagaProperty', property],
];

describe('a step that only reads', () => {
  it.each(explorers)('passes %s, which reports the same step without reads', async (_, explore) => {
    await explore(scriptOf(looking(true)));
    await expect(explore(scriptOf(looking(false)))).rejects.toThrow('look');
  });

  it.each([
    ['failEverywhere', failEverywhere],
    ['refuseEverywhere', refuseEverywhere],
  ] as readonly [string, Explorer][])(
    'may stay done in %s if its saga fails, and other steps get the advice to say so',
    async (_, explore) => {
      await explore(failing(true));
      const message = await messageOf(explore(failing(false)));
      expect(message).toContain(
        "If the step only reads, set reads: true. If the effect does no harm, pass { harmless: ['look'] }.",
      );
    },
  );

  it('is advised if a step repeats in the first request, or without its key', async () => {
    const message = await messageOf(crashEverywhere(scriptOf(looking(false))));
    expect(message).toContain(
      "If the step only reads, set reads: true. If a second effect does no harm, pass { harmless: ['look'] }, or { firstRequest: 'accept' }",
    );
    const again = await messageOf(
      crashEverywhere(scriptOf(looking(false)), { firstRequest: 'accept' }),
    );
    expect(again).toContain('If the step only reads, set reads: true. If a repetition does no');
  });

  it('may not do or undo an effect of a provider', async () => {
    const bank = new Provider<number>();
    const paying = saga({ name: 'paying', version: '1' }, function* () {
      yield* step('pay', ({ idempotencyKey }) => bank.do(idempotencyKey, 1), { reads: true });
      return 'paid';
    });
    const { code, message } = await errorOf(testSaga(paying, { providers: [bank] }).run());
    expect(code).toBe('violated');
    expect(message).toContain("'pay' has reads: true, but calls do('do:pay')");
  });

  it('passes the explorers in a machine, too', async () => {
    const machine = setup({
      types: { output: {} as string },
      actors: { look: stepInMachine(() => 1, { reads: true }) },
    });
    const program = machineSaga(
      { name: 'looks', version: '1', reuse: 'ok' },
      machine.createMachine({
        initial: 'looking',
        states: {
          looking: { invoke: { id: 'look', src: 'look', onDone: 'done' } },
          done: { type: 'final' },
        },
        output: () => 'looked',
      }),
    );
    await crashEverywhere(testSaga(program));
    await failEverywhere(testSaga(program));
  });
});
