import { elicit, machineSaga } from '@mcp-saga/xstate';
import type { Program } from '@mcp-saga/server';
import { assign, fromPromise, setup } from 'xstate';
import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  testHost,
  testSaga,
  type SagaRun,
  type TestSaga,
} from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import '@mcp-saga/testing/vitest';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf, messageOf } from './support/error-of.ts';

const did: string[] = [];
beforeEach(() => void did.splice(0));

/** Charges by a promise, asks, and ships by another promise. */
const machine = setup({
  types: { context: {}, output: {} as string },
  actors: {
    charge: fromPromise(async () => {
      did.push('charge');
      return { id: 'ch_1' };
    }),
    ask: elicit({ message: 'Ship it?', schema: z.object({ ship: z.boolean() }) }),
    ship: fromPromise(async () => void did.push('ship')),
  },
}).createMachine({
  context: {},
  initial: 'charging',
  states: {
    charging: { invoke: { id: 'charge', src: 'charge', onDone: 'asking' } },
    asking: { invoke: { id: 'ask', src: 'ask', onDone: 'shipping', onError: 'over' } },
    shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'over' } },
    over: { type: 'final' },
  },
  output: 'done',
});
const promised: Program = machineSaga({ name: 'promised', version: '1', reuse: 'ok' }, machine);
const guarded: Program = machineSaga({ name: 'guarded', version: '1' }, machine);
const shipped = (saga: Program): TestSaga =>
  testSaga(saga, { before: () => void did.splice(0) }).on.elicit('ask', { ship: true });

const runsOf = ({ effects }: SagaRun): Readonly<Record<string, readonly number[]>> =>
  Object.fromEntries(
    ['charge', 'ship'].map((of) => [
      of,
      effects.filter(({ id }) => id === of).map(({ runs }) => runs),
    ]),
  );

describe('a promise of a machine', () => {
  it('is an effect without a key, and an event of the trace', async () => {
    const run = await shipped(promised).run();
    expect(run.effects).toMatchObject([
      { id: 'charge', key: undefined, runs: 1, turns: [1] },
      { id: 'ship', key: undefined, runs: 1, turns: [2] },
    ]);
    expect(run).toHaveRun(['charge', 'ship'], { times: 1 });
    expect(run.warnings).toEqual([]);
  });

  it('that runs again after a lost response is an effect of two runs, with a warning', async () => {
    const run = await shipped(promised).lose.response(2).run();
    expect(did).toEqual(['charge', 'ship', 'ship']);
    expect(runsOf(run)).toEqual({ charge: [1], ship: [2] });
    expect(run.warnings.join()).toContain("'ship' happens again");
    expect(run.trace.filter(({ type }) => type === 'ran')).toHaveLength(3);
  });

  it.each(['before', 'after'] as const)('is found by its ID for a crash %s it', async (when) => {
    const run = await shipped(promised).crash[when]('ship').run();
    expect(run.trace).toContainEqual({ type: 'crashed', when, id: 'ship', turn: 2 });
    expect(runsOf(run)).toEqual({ charge: [1], ship: [when === 'before' ? 1 : 2] });
  });

  it('of a first request that dies is an effect of two sagas', async () => {
    const run = await shipped(promised).crash.after('charge').run();
    expect(runsOf(run)).toEqual({ charge: [1, 1], ship: [1] });
  });

  it('that fails is an event of the trace', async () => {
    const failed = shipped(promised).fail.step('ship', new Error('no truck'));
    const run = await failed.expectFailure('no truck').run();
    expect(run.trace).toContainEqual(expect.objectContaining({ type: 'failed', id: 'ship' }));
    expect(runsOf(run)).toEqual({ charge: [1], ship: [] });
  });

  it.each([
    ['in its first request', promised, 'charge'],
    ['after its first turn', guarded, 'charge'],
    ['although a stand-in replaces its code', guarded, 'ship', 'ship'],
  ])('is reported by crashEverywhere if it repeats %s', async (_, saga, id, standIn = '') => {
    const script = standIn === '' ? shipped(saga) : shipped(saga).on.step('ship', undefined);
    const harmless = id === 'ship' ? ['charge'] : ['ship'];
    const message = await messageOf(crashEverywhere(script, { harmless }));
    expect(message).toContain(`'${id}' happens again. A promise of a machine`);
    expect(await crashEverywhere(script, { harmless: ['charge', 'ship'] })).toEqual({
      cases: 6,
    });
  });

  it('is reported by failEverywhere if the failed saga leaves it', async () => {
    const { code, message } = await errorOf(failEverywhere(shipped(promised)));
    expect(code).toBe('violated');
    expect(message).toMatch(/'charge' .*a promise of a machine has no undo/);
    expect(await failEverywhere(shipped(promised), { harmless: ['charge', 'ship'] })).toEqual({
      cases: 6,
    });
  });

  it('is reported after a crash if the repeated request fails', async () => {
    const options = { afterCrash: 'fail', harmless: ['charge'] } as const;
    expect(await messageOf(crashEverywhere(shipped(promised), options))).toMatch(
      /'ship' .*a promise of a machine has no undo/,
    );
  });

  it('is reported by forkEverywhere if an older token runs it again', async () => {
    expect(await messageOf(forkEverywhere(shipped(promised)))).toContain("'ship' happens again");
    const { forks } = await forkEverywhere(shipped(promised), { harmless: ['ship'] });
    expect(forks[0]).toMatchObject({ id: 'ask', again: ['ship'] });
    expect((await forkEverywhere(shipped(guarded))).cases).toBeGreaterThan(0);
  });

  it('is reported by sagaProperty if it repeats', async () => {
    const property = sagaProperty(promised, { faults: ['crashes'] });
    await expect(fc.assert(property, { seed: 7 })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('A promise of a machine runs again') as string },
    });
  });

  it('is an effect of a host under test', async () => {
    const host = testHost({ sagas: [promised] });
    await host.client({ answers: { ask: { ship: true } } }).call('promised');
    await host.close();
    expect(host.effects.map(({ id, key, runs }) => [id, key, runs])).toEqual([
      ['charge', undefined, 1],
      ['ship', undefined, 1],
    ]);
  });
});

describe('a promise that a machine invokes in a loop', () => {
  const looping = (options: object): Program =>
    machineSaga(
      { name: 'looping', version: '1', ...options },
      setup({
        types: { context: {} as { pages: number }, output: {} as string },
        actors: {
          page: fromPromise(async () => void did.push('page')),
          ask: elicit({ message: 'More?', schema: z.object({ more: z.boolean() }) }),
        },
        guards: { isDone: ({ context }) => context.pages > 2 },
      }).createMachine({
        context: { pages: 0 },
        initial: 'asking',
        states: {
          asking: { invoke: { id: 'ask', src: 'ask', onDone: 'reading' } },
          reading: {
            entry: assign({ pages: ({ context }) => context.pages + 1 }),
            invoke: {
              id: 'page',
              src: 'page',
              onDone: [
                { guard: 'isDone', target: 'over' },
                { target: 'reading', reenter: true },
              ],
            },
          },
          over: { type: 'final' },
        },
        output: 'done',
      }) as never,
    );

  it.each([
    ['in one turn', {}],
    ['with a commit after each', { commitEach: true }],
  ])('is an effect for each invocation, %s', async (_, options) => {
    const script = testSaga(looping(options)).on.elicit('ask', { more: true });
    const run = await script.run();
    expect(run.effects.map(({ id, runs }) => [id, runs])).toEqual([
      ['page', 1],
      ['page', 1],
      ['page', 1],
    ]);
    const died = await script.crash.after('page', { run: 3 }).run();
    // Without commits, the whole turn runs again.
    const first = 'commitEach' in options ? 1 : 2;
    expect(died.effects.map(({ runs }) => runs)).toEqual([first, first, 2]);
  });
});
