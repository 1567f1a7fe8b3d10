import { compensator, type StepContext } from '@mcp-saga/core';
import { elicit, MachineRefused, machineSaga, step } from '@mcp-saga/xstate';
import { assign, setup, spawnChild, type AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { orphan } from '../../core/src/turn/turn-without-code.ts';
import { runtimeOf } from '../../core/test/support/world.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

const ask = elicit({ message: 'Well?', schema: z.object({}) });

describe('the ID of an effect', () => {
  it('[E1] gives two forks with different inputs one idempotency key', async () => {
    const ran: (readonly [input: number, key: string])[] = [];
    const machine = setup({
      types: { context: {} as { n: number }, output: {} as string },
      actors: {
        count: elicit({ message: 'How many?', schema: z.object({ n: z.number() }) }),
        pay: step(
          ({ input, idempotencyKey }: StepContext<number>) =>
            void ran.push([input, idempotencyKey]),
        ),
      },
    }).createMachine({
      context: { n: 0 },
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            id: 'count',
            src: 'count',
            onDone: { target: 'paying', actions: assign(({ event }) => event.output) },
          },
        },
        paying: {
          invoke: { id: 'pay', src: 'pay', input: ({ context }) => context.n, onDone: 'end' },
        },
        end: { type: 'final' },
      },
      output: 'paid',
    });
    const drive = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine));
    await drive.start();
    const { outcome } = drive;
    await drive.resume({ count: accept({ n: 1 }) });
    drive.outcome = outcome;
    await drive.resume({ count: accept({ n: 2 }) });
    expect(ran).toEqual([
      [1, 'do:pay'],
      [2, 'do:pay'],
    ]);
  });

  it.each([undefined, 'pay', 'pay(5)', '(5)'])(
    '[E3] [R3] leads an undo to the key it ran with, also if its code was removed: %j',
    async (id) => {
      const ran: string[] = [];
      const undone: string[] = [];
      const refund = compensator(
        'refund',
        z.object({}),
        ({ stepKey }) => void undone.push(stepKey),
      );
      const machine = setup({
        actors: {
          ask,
          pay: step(({ idempotencyKey }) => void ran.push(idempotencyKey), {
            compensate: refund.for(() => ({})),
          }),
        },
      }).createMachine({
        invoke: { src: 'pay', ...(id === undefined ? {} : { id }) },
        initial: 'asking',
        states: {
          asking: {
            invoke: { id: 'ask', src: 'ask', onDone: { target: '#(machine)', reenter: true } },
          },
        },
      });
      const drive = new Drive(
        machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never),
      );
      await drive.start();
      await drive.resume({ ask: accept({}) });
      drive.world.compensators.set('refund', refund);
      const gone = orphan('m', new Error('gone'));
      const { state } = drive.suspended;
      const { uncompensated } = failureOf(
        await gone.advance(state, new Map(), runtimeOf(drive.world)),
      );
      expect(uncompensated).toEqual([]);
      const path = id ?? '0.(machine)';
      expect(ran).toEqual([`do:${path}`, `do:${path}#2`]);
      expect(undone).toEqual(ran.toReversed());
    },
  );

  it.each(['~pay', '!pay', 'a/b', 'a#2', 'a@2', '', '__proto__'])(
    'an invoke ID with reserved characters is rejected: %j',
    (id) => {
      const logic = step(() => 1);
      const problem = `The invoke '${id}' of state 'm.p' has an invalid id.`;
      const inside = setup({ actors: { logic } }).createMachine({
        id: 'm',
        initial: 'p',
        states: { p: { invoke: { src: 'logic', id } } },
      });
      const outside = setup({ actors: { inside } }).createMachine({
        invoke: { id: 'mid', src: 'inside' },
      });
      const programOf = (machine: AnyStateMachine) =>
        machineSaga({ name: 'm', version: '1' }, machine as never);
      expect(() => programOf(inside)).toThrow(problem);
      expect(() => programOf(outside)).toThrow(problem);
    },
  );

  const once = { invoke: { src: 'logic', id: 'ask' } };
  const twice = { invoke: [once.invoke, once.invoke] };
  const regions = {
    type: 'parallel',
    states: { one: once, other: { initial: 'a', states: { a: once } } },
  };
  it.each([
    ['in regions beside each other', 'm.one', 'm.other.a', regions],
    [
      'in a state and in a state inside',
      'm',
      'm.a',
      { ...once, initial: 'a', states: { a: once } },
    ],
    ['twice in one state', 'm', 'm', twice],
  ])('an ID of two invokes is rejected %s', (_, one, other, config) => {
    const machine = setup({ actors: { logic: ask } }).createMachine({
      id: 'm',
      ...config,
    } as never);
    expect(() => machineSaga({ name: 'm', version: '1' }, machine as never)).toThrow(
      `The states '${one}' and '${other}' can be active at the same time, and both invoke 'ask'`,
    );
  });

  it('may be the same in states of which one is active at a time', () => {
    const machine = setup({ actors: { logic: ask } }).createMachine({
      initial: 'a',
      states: { a: { initial: 'b', states: { b: once } }, c: once },
    } as never);
    expect(() => machineSaga({ name: 'm', version: '1' }, machine as never)).not.toThrow();
  });

  const told: string[] = [];
  const pay = step(() => void told.push('paid'), { compensate: () => undefined });
  const kid = setup({ actors: { pay } }).createMachine({ invoke: { id: 'pay', src: 'pay' } });
  it('that XState has made of a state with reserved characters is told to get an id', () => {
    const machine = setup({ actors: { logic: ask } }).createMachine({
      id: 'm',
      initial: 'at 1/2',
      states: { 'at 1/2': { invoke: { src: 'logic' } } },
    } as never);
    expect(() => machineSaga({ name: 'm', version: '1' }, machine as never)).toThrow(
      'give the invoke an `id`',
    );
  });

  it('of a state that XState loses is rejected', () => {
    const states = Object.fromEntries([['__proto__', {}]]);
    for (const config of [
      { initial: '__proto__', states },
      { initial: 'a', states: { a: { initial: '__proto__', states } } },
    ])
      expect(() =>
        machineSaga({ name: 'm', version: '1' }, setup({}).createMachine(config as never) as never),
      ).toThrow("has a state '__proto__'");
  });

  it.each([
    ["the actor '~pay' has an invalid id", 'pay', { id: '~pay' }],
    ["the actor '!kid' has an invalid id", 'kid', { id: '!kid' }],
    ["the actor '__proto__' has an invalid id", 'pay', { id: '__proto__' }],
    ["a spawned actor of 'the machine' has no id", 'pay', {}],
    ["the actor 'inline' was spawned from a logic without a name", pay, { id: 'inline' }],
  ])('a spawned actor is rejected before it runs if %s', async (message, source, options) => {
    told.length = 0;
    const machine = setup({ actors: { pay, kid } }).createMachine({
      entry: spawnChild(source as 'pay', options as never),
    });
    const drive = new Drive(
      machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never),
    );
    const { error } = failureOf(await drive.start());
    expect(error).toBeInstanceOf(MachineRefused);
    expect((error as Error).message.toLowerCase()).toContain(message.toLowerCase());
    expect(told).toEqual([]);
  });
});

describe('the ID of a question', () => {
  const start = async (id: object, idOfChild: object): Promise<Drive> => {
    const kid = setup({ actors: { ask } }).createMachine({
      id: 'kid',
      initial: 'a',
      states: {
        a: { invoke: { src: 'ask', ...id }, after: { 1_000: { target: 'a', reenter: true } } },
      },
    });
    const machine = setup({ actors: { kid } }).createMachine({
      invoke: { src: 'kid', ...idOfChild },
    });
    const drive = new Drive(machineSaga({ name: 'm', version: '1' }, machine as never));
    await drive.start();
    return drive;
  };

  it('causes one warning if XState generated it', async () => {
    const drive = await start({}, { id: 'mid' });
    expect(drive.asked).toEqual(['mid/0.kid.a']);
    expect(drive.world.warnings).toEqual([
      "Saga 'm' asks 'mid/0.kid.a', an ID that XState made for an invoke without an id. Clients see the ID, and it changes with " +
        'the state. Set an id on the invoke.',
    ]);
    await drive.resume();
    expect(drive.world.warnings).toHaveLength(1);
  });

  it('causes a warning for machines on the path, too', async () => {
    const { world } = await start({ id: 'ask' }, {});
    expect(world.warnings).toEqual([expect.stringContaining("asks '0.(machine)/ask'")]);
  });

  it('causes no warning if it is set, or outside of development', async () => {
    const { world } = await start({ id: 'a0.b' }, { id: 'mid' });
    expect(world.warnings).toEqual([]);
    const { program } = await start({}, {});
    const drive = new Drive(program);
    await drive.start({}, { replace: { warn: undefined } });
    expect(drive.asked).toEqual(['0.(machine)/0.kid.a']);
  });
});
