import { ClientCannot, TurnAborted } from '@mcp-saga/core';
import { createSagaHost } from '@mcp-saga/server';
import { elicit, MachineRefused, machineSaga, MachineStuck, sample, step } from '@mcp-saga/xstate';
import {
  assign,
  fromCallback,
  fromPromise,
  fromTransition,
  sendTo,
  setup,
  type AnyActorRef,
  type AnyStateMachine,
} from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accept, Drive, failureOf, said } from './support/drive.ts';

const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
const text = { output: {} as string };
type Spawn = (logic: unknown, options?: { readonly id: string }) => unknown;
const drive = (machine: AnyStateMachine): Drive =>
  new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never));

/** States that go on to a last one. */
const regionTo = (last: object): object => ({
  initial: 'open',
  states: { open: { after: { 60_000: 'last' } }, last },
});

describe('a machine between two requests', () => {
  it('[U1] has several pending steps, answered in any order', async () => {
    const machine = setup({
      types: { ...text, context: {} as { got: string } },
      actors: { ask, model: sample({ messages: [], maxTokens: 1 }) },
    }).createMachine({
      context: { got: '' },
      initial: 'both',
      states: {
        both: {
          type: 'parallel',
          states: {
            one: {
              initial: 'a',
              states: {
                a: { invoke: { id: 'person', src: 'ask', onDone: 'b' } },
                b: { type: 'final' },
              },
            },
            two: {
              initial: 'a',
              states: {
                a: {
                  invoke: {
                    id: 'model',
                    src: 'model',
                    onDone: { target: 'b', actions: assign({ got: 'model' }) },
                  },
                },
                b: { type: 'final' },
              },
            },
          },
          onDone: 'end',
        },
        end: { type: 'final' },
      },
      output: ({ context }) => context.got,
    });
    const saga = drive(machine);
    await saga.start();
    expect(saga.asked).toEqual(['person', 'model']);
    await saga.resume({ model: said('x') });
    expect(saga.asked).toEqual(['person']);
    expect(await saga.resume({ person: accept({ n: 1 }), model: said('x') })).toMatchObject({
      status: 'completed',
      result: 'model',
      ignored: [{ stepId: 'model', why: 'unknown' }],
    });
  });

  it('[R1] asks in nested machines, and uses each ID once', async () => {
    const inner = setup({ actors: { ask } }).createMachine({
      id: 'inner',
      initial: 'a',
      states: { a: { invoke: { id: 'ask', src: 'ask', onDone: 'b' } }, b: { type: 'final' } },
    });
    const middle = setup({ actors: { inner } }).createMachine({
      id: 'middle',
      initial: 'a',
      states: { a: { invoke: { id: 'g', src: 'inner', onDone: 'b' } }, b: { type: 'final' } },
    });
    const machine = setup({
      types: { ...text, context: {} as { n: number } },
      actors: { middle },
    }).createMachine({
      context: { n: 0 },
      initial: 'a',
      states: {
        a: {
          invoke: {
            id: 'mid',
            src: 'middle',
            onDone: [
              { guard: ({ context }) => context.n > 0, target: 'end' },
              { target: 'a', reenter: true, actions: assign({ n: 1 }) },
            ],
          },
        },
        end: { type: 'final' },
      },
      output: 'deep',
    });
    const saga = drive(machine);
    await saga.start();
    expect(saga.asked).toEqual(['mid/g/ask']);
    await saga.resume({ 'mid/g/ask': accept({ n: 1 }) });
    expect(saga.asked).toEqual(['mid/g/ask@2']);
    // An answer that comes late is not the answer to the new question.
    await saga.resume({ 'mid/g/ask': accept({ n: 1 }) });
    expect(saga.suspended.ignored).toEqual([{ stepId: 'mid/g/ask', why: 'unknown' }]);
    expect(await saga.resume({ 'mid/g/ask@2': accept({ n: 1 }) })).toMatchObject({
      result: 'deep',
    });
  });

  it('[R1] stores spawned actors, references, and system IDs', async () => {
    const child = setup({ actors: { ask } }).createMachine({
      id: 'child',
      initial: 'a',
      states: { a: { invoke: { id: 'ask', src: 'ask', onDone: 'b' } }, b: { type: 'final' } },
    });
    const counter = fromTransition(
      (n: number, event: { type: string }) => (event.type === 'up' ? n + 1 : n),
      0,
    );
    const machine = setup({
      types: { ...text, context: {} as { ref: AnyActorRef | undefined } },
      actors: { child, counter, ask },
    }).createMachine({
      context: { ref: undefined },
      initial: 'a',
      entry: assign({
        ref: ({ spawn }) => {
          spawn('counter', { id: 'counter', systemId: 'counter' });
          return spawn('child', { id: 'kid' });
        },
      }),
      states: {
        a: {
          on: {
            '*': {
              target: 'b',
              actions: sendTo(({ system }) => system.get('counter'), { type: 'up' }),
            },
          },
        },
        b: { invoke: { id: 'last', src: 'ask', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: ({ context, self }) => {
        const { children } = self.getSnapshot();
        const count = (children['counter'] as { getSnapshot(): { context: number } }).getSnapshot()
          .context;
        return `${context.ref === children['kid']} ${count}`;
      },
    });
    const saga = drive(machine);
    await saga.start();
    expect(saga.asked).toEqual(['kid/ask']);
    await saga.resume({ 'kid/ask': accept({ n: 1 }) });
    expect(saga.asked).toEqual(['last@2']);
    expect(await saga.resume({ 'last@2': accept({ n: 1 }) })).toMatchObject({ result: 'true 1' });
  });

  it('[R1] stores only the status of a failed child machine', async () => {
    const kid = setup({
      types: { context: {} as { ref: unknown; at: object } },
      actors: { ask, fail: step(() => Promise.reject(new Error('no'))) },
    }).createMachine({
      context: ({ spawn }) => ({ ref: spawn('ask', { id: 'spawned' }), at: new AbortController() }),
      invoke: { id: 'fail', src: 'fail' },
    });
    const machine = setup({
      types: { ...text, context: {} as { failed: boolean } },
      actors: { kid, ask },
    }).createMachine({
      context: { failed: false },
      initial: 'a',
      states: {
        a: {
          invoke: [
            { id: 'kid', src: 'kid', onError: { actions: assign({ failed: true }) } },
            { id: 'ask', src: 'ask', onDone: 'end' },
          ],
        },
        end: { type: 'final' },
      },
      output: ({ context }) => String(context.failed),
    });
    const saga = drive(machine);
    await saga.start();
    expect(saga.asked).toEqual(['ask']);
    expect(await saga.resume({ ask: accept({ n: 1 }) })).toMatchObject({ result: 'true' });
  });

  it('[W6] an overdue delay fires before an answer is delivered', async () => {
    const machine = setup({ types: text, actors: { ask } }).createMachine({
      initial: 'asking',
      states: {
        asking: {
          invoke: { id: 'ask', src: 'ask', onDone: 'answered' },
          after: { 60_000: 'escalated' },
        },
        escalated: {
          after: { 60_000: 'late' },
          invoke: { id: 'boss', src: 'ask', onDone: 'answered' },
        },
        late: { type: 'final' },
        answered: { type: 'final' },
      },
      output: ({ self }) => JSON.stringify(self.getSnapshot().value),
    });
    const saga = drive(machine);
    await saga.start();
    expect(saga.suspended.deadline).toBe(61_000);
    saga.world.time += 91_001;
    await saga.resume({ ask: accept({ n: 1 }) });
    expect(saga.asked).toEqual(['boss@2']);
    expect(saga.suspended).toMatchObject({
      deadline: 121_000,
      ignored: [{ stepId: 'ask', why: 'unknown' }],
    });
    saga.world.time += 51_000;
    expect(await saga.resume({ 'boss@2': accept({ n: 1 }) })).toMatchObject({
      status: 'completed',
    });
  });

  it('[W6] a delay alone is held, returned as a token, or ClientCannot', async () => {
    const machine = setup({ types: text }).createMachine({
      initial: 'a',
      states: { a: { after: { 5_000: 'b' } }, b: { type: 'final' } },
      output: 'slept',
    });
    expect(await drive(machine).start({}, { maxHold: 10_000 })).toMatchObject({ result: 'slept' });
    const short = drive(machine);
    await short.start();
    expect(short.suspended).toMatchObject({ steps: [], retryAfterMs: 5_000 });
    const parts = drive(machine);
    await parts.start({}, { maxHold: 2_000, replace: { holdsParts: true } });
    expect(parts.suspended.retryAfterMs).toBe(3_000);
    const { error } = failureOf(await drive(machine).start({}, { replace: { maxWait: 1_000 } }));
    expect(error).toBeInstanceOf(ClientCannot);
  });

  it('[W7] no delay fires in a turn without time', async () => {
    const machine = setup({ types: text, actors: { ask } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'ask', src: 'ask' }, after: { 10: 'b' } },
        b: { type: 'final' },
      },
      output: 'over',
    });
    const saga = drive(machine);
    await saga.start();
    saga.world.time += 20;
    await saga.resume({}, { budget: 0 });
    expect(saga.asked).toEqual(['ask']);
    expect(await saga.resume()).toMatchObject({ result: 'over' });
  });

  it('[U1] awaits promises until a timeout of the machine', async () => {
    const machine = setup({
      types: text,
      actors: {
        quick: fromPromise(async () => 'quick'),
        slow: fromPromise(() => new Promise<string>(() => undefined)),
        ask,
      },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { src: 'quick', onDone: 'b' } },
        b: { invoke: { src: 'slow', onDone: 'a' }, after: { 1_000: 'c' } },
        c: { invoke: { id: 'ask', src: 'ask', onDone: 'd' } },
        d: { invoke: { src: 'quick', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: 'through',
    });
    const saga = drive(machine);
    await saga.start();
    expect(saga.asked).toEqual(['ask']);
    expect(await saga.resume({ ask: accept({ n: 1 }) })).toMatchObject({ result: 'through' });
  });

  it('[U4] an aborted request awaits running effects, and the earlier state stays valid', async () => {
    const seen: string[] = [];
    const machine = setup({
      types: text,
      actors: {
        ask,
        work: step(async ({ signal, idempotencyKey }) => {
          seen.push(idempotencyKey);
          if (seen.length === 1) {
            await new Promise((resolve) => {
              signal.addEventListener('abort', resolve);
            });
            seen.push('ended');
          }
          return 'x';
        }),
      },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'ask', src: 'ask', onDone: 'b' } },
        b: { invoke: { id: 'work', src: 'work', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: 'worked',
    });
    const saga = drive(machine);
    await saga.start();
    const before = saga.outcome;
    const controller = new AbortController();
    const turn = saga.resume({ ask: accept({ n: 1 }) }, { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(turn).rejects.toBeInstanceOf(TurnAborted);
    expect(seen).toEqual(['do:work', 'ended']);
    saga.outcome = before;
    expect(await saga.resume({ ask: accept({ n: 1 }) })).toMatchObject({ result: 'worked' });
    expect(seen).toEqual(['do:work', 'ended', 'do:work']);
  });

  it('[U4] with commitsEach, a turn ends after the first effect', async () => {
    const machine = setup({ types: text, actors: { work: step(() => 'x') } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'one', src: 'work', onDone: 'b' } },
        b: { invoke: { id: 'two', src: 'work', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: 'worked',
    });
    const saga = drive(machine);
    const replace = { commitsEach: true };
    await saga.start({}, { replace });
    expect(saga.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    expect(await saga.resume({}, { replace })).toMatchObject({ result: 'worked' });
  });

  it('reports the state of a machine that waits for nothing', async () => {
    const machine = setup({ types: text }).createMachine({
      initial: 'a',
      states: { a: { initial: 'b', states: { b: {} } } },
    });
    const { error } = failureOf(await drive(machine).start());
    expect(error).toBeInstanceOf(MachineStuck);
    expect(error).toMatchObject({ message: expect.stringContaining('{"a":"b"}') as string });
  });

  const withFault = (context: object): AnyStateMachine =>
    setup({ types: { context: {} }, actors: { ask } }).createMachine({
      context,
      invoke: { src: 'ask' },
    });
  const refusals: readonly (readonly [string, AnyStateMachine, string])[] = [
    ...['money', 'm', 'c', 'k', 'i'].map((key) => {
      const machine = withFault({ [key]: { [key]: [new AbortController()] } });
      return [
        `a class instance under the key '${key}'`,
        machine,
        `context.${key}.${key}[0] is an`,
      ] as const;
    }),
    [
      'a class instance in a child named as a field of the record',
      setup({
        actors: { kid: withFault({ 'my mine': { money: new AbortController() } }) },
      }).createMachine({ invoke: { id: 'mid', src: 'kid' } }),
      `context["my mine"].money of 'mid' is an`,
    ],
    [
      'a class instance in the context of a child',
      setup({
        actors: {
          kid: setup({ actors: { ask } }).createMachine({
            context: { it: new AbortController() },
            invoke: { src: 'ask' },
          }),
        },
      }).createMachine({ invoke: { id: 'kid', src: 'kid' } }),
      "context.it of 'kid' is an instance of AbortController",
    ],
    [
      'a reference to an actor that is not a child',
      setup({ types: { context: {} as { up: unknown } }, actors: { ask } }).createMachine({
        context: ({ self }) => ({ up: self }),
        invoke: { src: 'ask' },
      }),
      'context.up is an actor',
    ],
    [
      'an actor without its own ID',
      setup({ types: { context: {} as { ref: unknown } }, actors: { ask } }).createMachine({
        context: ({ spawn }) => ({ ref: (spawn as Spawn)('ask') }),
      }),
      "A spawned actor of 'the machine' has no id",
    ],
    [
      'an actor of a logic without a name',
      setup({ types: { context: {} as { ref: unknown } }, actors: { ask } }).createMachine({
        context: ({ spawn }) => ({ ref: (spawn as Spawn)(ask, { id: 'inline' }) }),
      }),
      "The actor 'inline' was spawned from a logic without a name",
    ],
  ];
  it.each(refusals)('rejects %s, with the place', async (_, machine, message) => {
    const { error } = failureOf(await drive(machine).start());
    expect(error).toBeInstanceOf(MachineRefused);
    expect(error).toMatchObject({
      message: expect.stringContaining(message) as string,
      public: false,
    });
    expect((error as Error).message).not.toContain('secret');
  });

  it('rejects callbacks and unnamed actors at once', () => {
    const ticking = setup({ actors: { ticks: fromCallback(() => undefined) } }).createMachine({
      invoke: { src: 'ticks' },
    });
    const refused = expect.objectContaining({ code: 'authoring_error' }) as Error;
    expect(() => drive(ticking)).toThrow("The actor 'ticks'");
    expect(() => drive(ticking)).toThrow(refused);
    const invoke = { id: 'x', src: 'gone' };
    const unnamed = setup({}).createMachine({
      id: 'top',
      invoke,
    } as never) as unknown as AnyStateMachine;
    expect(() => drive(unnamed)).toThrow("The invoke 'x' of state 'top' uses the actor 'gone'");
    expect(() => machineSaga({ name: 'm', version: '1' }, {} as never)).toThrow(refused);
    const undone = setup({
      actors: { pay: step(() => 1, { compensate: () => undefined }) },
    }).createMachine({});
    const needy = machineSaga({ name: 'm', version: '1' }, undone as never);
    expect(() => createSagaHost({ sagas: [needy], name: 'shop', keys: 'ephemeral' })).toThrow(
      expect.objectContaining({ code: 'missing_option' }),
    );
  });

  it('rejects a machine that may end without an output at once', () => {
    const config = {
      initial: 'open',
      states: { open: { after: { 60_000: 'paid' } }, paid: { type: 'final' } },
    };
    const make = (more: object): unknown =>
      machineSaga(
        { name: 'm', version: '1' },
        setup({}).createMachine({ ...config, ...more } as never) as never,
      );
    const refused = /output.*\nSee docs\/reference\/errors\.md#invalid_result$/;
    expect(() => make({})).toThrow(refused);
    expect(() => make({ output: 'Paid.' })).not.toThrow();
  });

  it.each<[string, boolean, object]>([
    ['fails in its final state', false, regionTo({ type: 'final', tags: ['compensate'] })],
    ['has no final state', false, regionTo({})],
    [
      'waits for a region without a final state',
      false,
      { type: 'parallel', states: { a: regionTo({ type: 'final' }), b: regionTo({}) } },
    ],
    [
      'completes with all of its regions',
      true,
      {
        type: 'parallel',
        states: { a: regionTo({ type: 'final' }), b: regionTo({ type: 'final' }) },
      },
    ],
  ])('needs an output only to complete: one that %s is refused: %s', (_, isRefused, config) => {
    const machine = setup({}).createMachine(config as never);
    const make = (): unknown => machineSaga({ name: 'm', version: '1' }, machine as never);
    if (isRefused) expect(make).toThrow('without a result');
    else expect(make).not.toThrow();
  });
});

describe('a stopped turn', () => {
  it('[U4] ends its wait, and no delay or effect follows', async () => {
    const ran: string[] = [];
    const machine = setup({
      types: text,
      actors: { ship: step(() => void ran.push('shipped')) },
    }).createMachine({
      initial: 'cooling',
      states: {
        cooling: { after: { 15_000: 'shipping' } },
        shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: () => 'shipped',
    });
    const saga = drive(machine);
    const stop = new AbortController();
    const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
      stop.abort();
      // The clock shows the end of the wait, and the turn has no time left for it.
      saga.world.time += ms;
      expect(signal.aborted).toBe(true);
    };
    const stopped = { maxHold: 20_000, replace: { stops: stop.signal, sleep } };
    expect(await saga.start({}, stopped)).toMatchObject({ status: 'suspended', steps: [] });
    expect(ran).toEqual([]);
    expect(await saga.resume()).toMatchObject({ status: 'completed' });
    expect(ran).toEqual(['shipped']);
  });
});
