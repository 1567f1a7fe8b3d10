import { elicit, idempotencyKeyOf, machineSaga, type PromiseStepOptions } from '@mcp-saga/xstate';
import type { Program } from '@mcp-saga/server';
import { assign, fromPromise, setup } from 'xstate';
import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  Provider,
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
    charge: fromPromise<unknown>(async () => {
      did.push('charge');
      return { id: 'ch_1' };
    }),
    ask: elicit({ message: 'Ship it?', schema: z.object({ ship: z.boolean() }) }),
    ship: fromPromise<unknown>(async () => void did.push('ship')),
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
const [charges, parcels] = [new Provider<string>(), new Provider<string>()];
/** The same saga, whose promises send their keys to providers. */
const keyed = (steps: Readonly<Record<string, PromiseStepOptions>> = {}): Program =>
  machineSaga(
    {
      name: 'keyed',
      version: '1',
      steps,
      reuse: Object.keys(steps).length === 0 ? 'ok' : undefined,
    },
    machine.provide({
      actors: {
        charge: fromPromise<unknown>(async ({ self }) =>
          charges.do(idempotencyKeyOf(self), 'charge'),
        ),
        ship: fromPromise<unknown>(async ({ self }) => parcels.do(idempotencyKeyOf(self), 'ship')),
      },
    }),
  );
const shipped = (saga: Program): TestSaga =>
  testSaga(saga, {
    before: () => void did.splice(0),
    providers: [charges, parcels],
  }).on.elicit('ask', { ship: true });

const firstRequest = 'happens twice. The step runs in the first request';
const withoutKey = 'happens 2 times, and its code never reads its idempotency key';

const runsOf = ({ effects }: SagaRun): Readonly<Record<string, readonly number[]>> =>
  Object.fromEntries(
    ['charge', 'ship'].map((of) => [
      of,
      effects.filter(({ id }) => id === of).map(({ runs }) => runs),
    ]),
  );

describe('a promise of a machine', () => {
  it('is an effect with a key that its code has not read, and an event of the trace', async () => {
    const run = await shipped(promised).run();
    expect(run.effects).toMatchObject([
      { id: 'charge', key: 'do:charge', took: false, runs: 1, turns: [1] },
      { id: 'ship', key: 'do:ship', took: false, runs: 1, turns: [2] },
    ]);
    expect(run).toHaveRun(['charge', 'ship'], { times: 1 });
    expect(run.warnings).toEqual([]);
  });

  it('that runs again after a lost response is an effect of two runs', async () => {
    const run = await shipped(promised).lose.response(2).run();
    expect(did).toEqual(['charge', 'ship', 'ship']);
    expect(runsOf(run)).toEqual({ charge: [1], ship: [2] });
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
    ['in its first request', promised, 'charge', firstRequest],
    ['in its first request, with a store', guarded, 'charge', firstRequest],
    ['in a later turn', promised, 'ship', withoutKey],
    ['in a later turn, with a store', guarded, 'ship', withoutKey],
  ])('is reported by crashEverywhere if it repeats %s', async (_, saga, id, what) => {
    const script = shipped(saga);
    const harmless = id === 'ship' ? ['charge'] : ['ship'];
    const message = await messageOf(crashEverywhere(script, { harmless }));
    expect(message).toContain(`'${id}' ${what}`);
    expect(await crashEverywhere(script, { harmless: ['charge', 'ship'] })).toEqual({
      cases: 6,
    });
  });

  it('is accepted by crashEverywhere with a stand-in, as another step is', async () => {
    const script = shipped(guarded).on.step('ship', undefined);
    expect(await crashEverywhere(script, { harmless: ['charge'] })).toEqual({ cases: 6 });
  });

  it('whose code takes its key may repeat', async () => {
    const run = await shipped(keyed()).lose.response(2).run();
    expect(run.effects).toMatchObject([
      { id: 'charge', key: 'do:charge', took: true, runs: 1 },
      { id: 'ship', key: 'do:ship', took: true, runs: 2 },
    ]);
    expect(parcels.calls).toEqual(['do:ship', 'do:ship']);
    expect(await crashEverywhere(shipped(keyed()), { firstRequest: 'accept' })).toEqual({
      cases: 6,
    });
    expect((await forkEverywhere(shipped(keyed()))).cases).toBe(3);
  });

  it('that has ended in the journal of a token does not run again with it', async () => {
    const run = await shipped(promised).run();
    expect(runsOf(await run.at('ask').fork())).toEqual({ charge: [1], ship: [2] });
    expect(did).toEqual(['charge', 'ship', 'ship']);
  });

  it('with an undo in the options of the machine is undone, as another step is', async () => {
    const saga = keyed({
      charge: { compensate: ({ stepKey }) => charges.undo(stepKey), unknown: 'compensate' },
    });
    const failed = await shipped(saga).fail.step('ship', new Error('no truck')).run();
    expect(failed.compensated).toEqual(['charge']);
    expect(failed.standing).toEqual([]);
    const options = { harmless: ['ship'] };
    expect((await failEverywhere(shipped(saga), options)).cases).toBeGreaterThan(0);
    expect((await crashEverywhere(shipped(saga), options)).cases).toBeGreaterThan(0);
  });

  it('is reported by failEverywhere if the failed saga leaves it', async () => {
    const { code, message } = await errorOf(failEverywhere(shipped(promised)));
    expect(code).toBe('violated');
    expect(message).toContain(
      "'charge' happened, the saga failed, and nothing undoes 'charge'. Add `compensate",
    );
    expect(await failEverywhere(shipped(promised), { harmless: ['charge', 'ship'] })).toEqual({
      cases: 6,
    });
  });

  it('is reported after a crash if the repeated request fails', async () => {
    const options = { afterCrash: 'fail', harmless: ['charge'] } as const;
    expect(await messageOf(crashEverywhere(shipped(promised), options))).toContain(
      "'ship' happened in a request that died, the repeated request failed, and nothing undoes or names 'ship'",
    );
  });

  it('is reported by forkEverywhere if an older token runs it again', async () => {
    expect(await messageOf(forkEverywhere(shipped(promised)))).toContain(`'ship' ${withoutKey}`);
    const { forks } = await forkEverywhere(shipped(promised), { harmless: ['ship'] });
    expect(forks[0]).toMatchObject({ id: 'ask', again: ['ship'] });
    expect((await forkEverywhere(shipped(guarded))).cases).toBeGreaterThan(0);
  });

  it('is reported by sagaProperty if it repeats', async () => {
    const property = sagaProperty(promised, { faults: ['crashes'] });
    await expect(fc.assert(property, { seed: 7 })).rejects.toMatchObject({
      cause: { message: expect.stringContaining(`'ship' ${withoutKey}`) as string },
    });
  });

  it('is an effect of a host under test', async () => {
    const host = testHost({ sagas: [promised] });
    await host.client({ answers: { ask: { ship: true } } }).call('promised');
    await host.close();
    expect(host.effects.map(({ id, key, runs }) => [id, key, runs])).toEqual([
      ['charge', expect.any(String), 1],
      ['ship', expect.any(String), 1],
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
      ['page#2', 1],
      ['page#3', 1],
    ]);
    const died = await script.crash.after('page#3').run();
    // Without commits, the whole turn runs again.
    const first = 'commitEach' in options ? 1 : 2;
    expect(died.effects.map(({ runs }) => runs)).toEqual([first, first, 2]);
  });
});
