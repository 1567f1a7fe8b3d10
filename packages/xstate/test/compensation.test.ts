import { engineOf } from '@mcp-saga/core/program';
import {
  compensator,
  SagaAborted,
  SagaCancelled,
  step as stepInSaga,
  type Program,
} from '@mcp-saga/core';
import { elicit, machineSaga, step, type StepLogicOptions } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { orphan } from '../../core/src/turn/turn-without-code.ts';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';
import { runtimeOf } from '../../core/test/support/world.ts';

const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });

interface Shop {
  readonly told: string[];
  readonly program: Program;
}

/** Reserves, charges, asks; then it ships, fails or gives up, as the answer says. */
function shop(options: StepLogicOptions<string, undefined, unknown, 'report'> = {}): Shop {
  const told: string[] = [];
  const machine = setup({
    types: { output: {} as string },
    actors: {
      ask,
      reserve: step(
        ({ input, idempotencyKey }: { input: { item: string }; idempotencyKey: string }) => {
          told.push(`reserve ${input.item} ${idempotencyKey}`);
          return { id: 'r1' };
        },
        {
          label: 'the reservation',
          compensate: ({ input, result, stepKey, idempotencyKey }) => {
            told.push(`release ${input.item} ${result.id} ${stepKey} ${idempotencyKey}`);
          },
        },
      ),
      charge: step(() => 'c1', {
        compensate: ({ result }) => void told.push(`refund ${result}`),
        ...options,
      }),
      ship: step(() => {
        throw new Error('no way');
      }),
    },
  }).createMachine({
    initial: 'reserving',
    states: {
      reserving: {
        invoke: { id: 'reserve', src: 'reserve', input: { item: 'book' }, onDone: 'charging' },
      },
      charging: { invoke: { id: 'charge', src: 'charge', onDone: 'asking', onError: 'asking' } },
      asking: {
        invoke: {
          id: 'ask',
          src: 'ask',
          onDone: [
            { guard: ({ event }) => event.output.n === 1, target: 'shipped' },
            { guard: ({ event }) => event.output.n === 2, target: 'left' },
            { target: 'shipping' },
          ],
        },
      },
      shipping: { invoke: { id: 'ship', src: 'ship' } },
      shipped: { type: 'final' },
      left: { type: 'final', tags: 'compensate' },
    },
    output: 'You gave it up.',
  });
  return { told, program: machineSaga({ name: 'shop', version: '1', reuse: 'ok' }, machine) };
}

const undone = ['refund c1', 'release book r1 do:reserve undo:~reserve'];

describe('the effects of a machine', () => {
  it('[E3] are undone, last first, when the machine ends in an error', async () => {
    const { told, program } = shop();
    const drive = new Drive(program);
    await drive.start();
    const outcome = failureOf(await drive.resume({ ask: accept({ n: 3 }) }));
    expect(outcome.error).toMatchObject({ name: 'Error', message: 'no way', stepId: 'ship' });
    expect(outcome.compensated).toEqual([
      { stepId: 'charge' },
      { stepId: 'reserve', label: 'the reservation' },
    ]);
    expect(outcome.uncompensated).toEqual([]);
    expect(told).toEqual(['reserve book do:reserve', ...undone]);
  });

  it('[E3] have labels made of their inputs', async () => {
    const failsTo = () => {
      throw new Error('no');
    };
    const machine = setup({
      actors: {
        book: step(({ input }: { input: { item: string } }) => input.item, {
          label: ({ input }) => `the ${input.item}`,
          compensate: ({ input }) => (input.item === 'room' ? failsTo() : undefined),
          undo: { retry: 1 },
        }),
        // The undo runs, even if its label throws.
        unnamed: step(() => 1, { label: failsTo, compensate: () => undefined }),
        numbered: step(() => 1, { label: (() => 1) as never, compensate: () => undefined }),
        ship: step(failsTo),
      },
    }).createMachine({
      initial: 'room',
      states: {
        room: { invoke: { id: 'room', src: 'book', input: { item: 'room' }, onDone: 'car' } },
        car: { invoke: { id: 'car', src: 'book', input: { item: 'car' }, onDone: 'unnamed' } },
        unnamed: { invoke: { id: 'unnamed', src: 'unnamed', onDone: 'numbered' } },
        numbered: { invoke: { id: 'numbered', src: 'numbered', onDone: 'shipping' } },
        shipping: { invoke: { id: 'ship', src: 'ship' } },
      },
    });
    const drive = new Drive(machineSaga({ name: 'trip', version: '1', reuse: 'ok' }, machine));
    expect(failureOf(await drive.start())).toMatchObject({
      compensated: [
        { stepId: 'numbered' },
        { stepId: 'unnamed' },
        { stepId: 'car', label: 'the car' },
      ],
      uncompensated: [{ stepId: 'room', label: 'the room' }],
    });
  });

  it('[E3] are undone if the machine reaches a state tagged `compensate`', async () => {
    const { told, program } = shop();
    const drive = new Drive(program);
    await drive.start();
    const outcome = failureOf(await drive.resume({ ask: accept({ n: 2 }) }));
    expect(outcome.error).toBeInstanceOf(SagaAborted);
    expect(outcome.error).toMatchObject({ message: 'You gave it up.', public: true });
    expect(told.slice(1)).toEqual(undone);
  });

  it('[E6] are undone if the machine is cancelled, or cannot be stored', async () => {
    for (const error of [new SagaCancelled('enough'), new Error('too large')]) {
      const { told, program } = shop();
      const drive = new Drive(program);
      await drive.start();
      const outcome = failureOf(await drive.end(error));
      expect(outcome.error).toBe(error);
      expect(outcome.compensated).toHaveLength(2);
      expect(told.slice(1)).toEqual(undone);
    }
  });

  it('[E3] stay if the machine completes, unless the saga rejects the result', async () => {
    const { told, program } = shop();
    const drive = new Drive(program);
    await drive.start();
    const before = drive.outcome;
    expect(await drive.resume({ ask: accept({ n: 1 }) })).toMatchObject({ status: 'completed' });
    expect(told).toHaveLength(1);
    drive.outcome = before;
    const checkResult = () => Promise.reject(new Error('not that'));
    const outcome = failureOf(
      await drive.resume({ ask: accept({ n: 1 }) }, { replace: { checkResult } }),
    );
    expect(outcome.error).toMatchObject({ message: 'not that' });
    expect(told.slice(1)).toEqual(undone);
  });

  it('[E3] a failed undo is uncompensated, and the other undos continue', async () => {
    let tries = 0;
    const { told, program } = shop({
      undo: { retry: { attempts: 2, delay: 1 } },
      compensate: () => {
        tries += 1;
        throw new Error('down');
      },
    });
    const drive = new Drive(program);
    await drive.start();
    const outcome = failureOf(await drive.resume({ ask: accept({ n: 2 }) }, { maxHold: 1_000 }));
    expect(tries).toBe(2);
    expect(outcome.uncompensated).toEqual([{ stepId: 'charge' }]);
    expect(outcome.compensated).toMatchObject([{ stepId: 'reserve' }]);
    expect(told.slice(1)).toEqual(undone.slice(1));
  });

  it('[E2] a long backoff of an undo suspends the saga, and nothing is undone twice', async () => {
    let tries = 0;
    const { told, program } = shop({
      undo: { retry: { attempts: 2, delay: 60_000, jitter: false } },
      compensate: () => {
        tries += 1;
        if (tries === 1) throw new Error('down');
      },
    });
    const drive = new Drive(program);
    await drive.start();
    await drive.resume({ ask: accept({ n: 2 }) });
    expect(drive.suspended).toMatchObject({ steps: [], retryAfterMs: 60_000 });
    drive.world.time += 60_000;
    const outcome = failureOf(await drive.resume());
    expect(outcome.error).toMatchObject({ message: 'You gave it up.', public: true });
    expect(outcome.compensated).toHaveLength(2);
    expect(told.slice(1)).toEqual(undone.slice(1));
  });

  it('[E4] an effect that timed out is undone', async () => {
    const lost: string[] = [];
    const machine = setup({
      actors: {
        pay: step(() => new Promise<string>(() => undefined), {
          timeout: 10,
          compensate: ({ outcome, stepKey }) =>
            void lost.push(outcome === 'unknown' ? stepKey : 'never'),
          unknown: 'compensate',
        }),
      },
    }).createMachine({ initial: 'a', states: { a: { invoke: { id: 'pay', src: 'pay' } } } });
    const drive = new Drive(
      machineSaga({ name: 'pay', version: '1', reuse: 'ok' }, machine as never),
    );
    const outcome = failureOf(await drive.start());
    expect(outcome.compensated).toEqual([{ stepId: 'pay' }]);
    expect(lost).toEqual(['do:pay']);
  });

  it('[E4] a stopped effect is awaited and undone', async () => {
    const told: string[] = [];
    const machine = setup({
      actors: {
        pay: step(
          async ({ signal }) => {
            await new Promise((resolve) => {
              signal.addEventListener('abort', resolve);
            });
            return 'paid';
          },
          { compensate: ({ result }) => void told.push(`back ${result}`) },
        ),
      },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'pay', src: 'pay' }, after: { 100: 'b' } },
        b: { type: 'final', tags: ['compensate'] },
      },
    });
    const drive = new Drive(
      machineSaga({ name: 'pay', version: '1', reuse: 'ok' }, machine as never),
    );
    expect(failureOf(await drive.start()).compensated).toEqual([{ stepId: 'pay' }]);
    expect(told).toEqual(['back paid']);
  });

  it('[R3] a named undo runs without the code, and other effects are uncompensated', async () => {
    const refunds: unknown[] = [];
    const refund = compensator(
      'refund',
      z.object({ id: z.string() }),
      ({ args }) => void refunds.push(args),
    );
    const { program } = shop({ compensate: refund.for(({ result }) => ({ id: result })) });
    const drive = new Drive(program);
    await drive.start();
    drive.world.compensators.set('refund', refund);
    const gone = orphan('shop', new Error('gone'));
    const outcome = failureOf(
      await gone.advance(drive.suspended.state, new Map(), runtimeOf(drive.world)),
    );
    expect(refunds).toEqual([{ id: 'c1' }]);
    expect(outcome.compensated).toEqual([{ stepId: 'charge' }]);
    expect(outcome.uncompensated).toEqual([{ stepId: 'reserve' }]);
    // The effects of an interrupted turn are unknown.
    const begun = orphan('shop', new Error('gone'), 'turn 2');
    const other = await begun.advance(drive.suspended.state, new Map(), runtimeOf(drive.world));
    expect(failureOf(other).uncompensated).toEqual([{ stepId: 'turn 2' }, { stepId: 'reserve' }]);
    refunds.length = 1;
    // By the code that is still there, too.
    await drive.end(new SagaCancelled());
    expect(refunds).toHaveLength(2);
  });

  it('[E3] a generator of server steps can undo an effect', async () => {
    const told: string[] = [];
    const { program } = shop({
      compensate: function* ({ result, stepKey }: { result: string; stepKey: string }) {
        told.push(`${result} ${stepKey}`);
        yield* stepInSaga('one', () => void told.push('one'));
        yield* stepInSaga('two', () => void told.push('two'));
      } as never,
    });
    const drive = new Drive(program);
    await drive.start();
    expect(failureOf(await drive.end(new SagaCancelled())).compensated).toHaveLength(2);
    expect(told).toEqual(['c1 do:charge', 'one', 'two']);
  });

  it('[E1] the nth run of an effect has the same key on every fork', async () => {
    const keys: string[] = [];
    const machine = setup({
      types: { output: {} as string },
      actors: { ask, ping: step(({ idempotencyKey }) => void keys.push(idempotencyKey)) },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'ask', src: 'ask', onDone: 'b' } },
        b: { invoke: { id: 'ping', src: 'ping', onDone: 'a' } },
      },
    });
    const drive = new Drive(machineSaga({ name: 'loop', version: '1' }, machine as never));
    await drive.start();
    await drive.resume({ ask: accept({ n: 1 }) });
    const fork = drive.outcome;
    await drive.resume({ 'ask@2': accept({ n: 1 }) });
    drive.outcome = fork;
    await drive.resume();
    await drive.resume({ 'ask@2': accept({ n: 2 }) });
    expect(keys).toEqual(['do:ping', 'do:ping#2', 'do:ping#2']);
    expect(engineOf(drive.program).timeline(drive.suspended.state)).toMatchObject([
      { kind: 'machine' },
      { kind: 'step', path: 'ping', outcome: 'done' },
      { kind: 'step', path: 'ping#2', outcome: 'done' },
    ]);
  });
});
