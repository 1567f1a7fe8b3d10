import { AuthoringError } from '@mcp-saga/core/program';
import { createSagaHost, memoryStore, type SagaTurn } from '@mcp-saga/server';
import { approval, elicit, machineSaga, step } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, fromPromise, raise, setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { testClock } from '../../server/test/fixtures/clock.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

/** A checkout as a shop would have it for its pages: nothing in it knows of a saga. */
const checkout = setup({
  types: {
    input: {} as { order: string; cents: number },
    context: {} as { order: string; cents: number; entered: number; paid: string[] },
    events: {} as
      | { type: 'CONFIRM' }
      | { type: 'CANCEL' }
      | { type: 'CHANGE'; cents: number }
      | { type: 'RESTART' },
    output: {} as string,
  },
  actors: {
    charge: fromPromise(({ input }: { input: { order: string; cents: number } }) =>
      Promise.resolve(`${input.order} ${input.cents}`),
    ),
  },
}).createMachine({
  id: 'checkout',
  context: ({ input }) => ({ ...input, entered: 0, paid: [] }),
  initial: 'review',
  states: {
    review: {
      entry: assign({ entered: ({ context }) => context.entered + 1 }),
      on: {
        CONFIRM: 'charging',
        CANCEL: 'cancelled',
        CHANGE: { actions: assign({ cents: ({ event }) => event.cents }) },
        RESTART: { target: 'review', reenter: true },
      },
    },
    charging: {
      invoke: {
        id: 'charge',
        src: 'charge',
        input: ({ context }) => context,
        onDone: {
          target: 'charged',
          actions: assign({ paid: ({ context, event }) => [...context.paid, event.output] }),
        },
      },
    },
    charged: { type: 'final' },
    cancelled: { type: 'final' },
  },
  output: ({ context }) => `paid ${context.paid.join()}, entered ${context.entered}`,
});

const options = { name: 'checkout', version: '1', reuse: 'ok' } as const;
const input = z.object({ order: z.string(), cents: z.number() });
const decide = elicit({
  message: ({ input: cents }: { input: number }) => `Pay ${cents}?`,
  schema: z.object({
    event: z.enum(['CONFIRM', 'CANCEL', 'CHANGE', 'RESTART', 'UNKNOWN']),
    cents: z.number().optional(),
  }),
});

const checkoutSaga = machineSaga(
  {
    ...options,
    input,
    asks: {
      review: {
        ask: decide,
        input: ({ context }) => context.cents,
        onAnswer: ({ answer: { event, cents = 0 }, send }) =>
          send(
            (event === 'CHANGE' ? { type: event, cents } : { type: event }) as { type: 'CONFIRM' },
          ),
        onError: ({ send }) => send({ type: 'CANCEL' }),
      },
    },
  },
  checkout,
);

/** The messages of the pending questions, by the IDs of their steps. */
function asked(run: Drive): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    run.suspended.steps.map(({ stepId, params }) => [
      stepId,
      (params as unknown as Params).message,
    ]),
  );
}

interface Params {
  readonly message: string;
}

async function begun(): Promise<Drive> {
  const run = new Drive(checkoutSaga);
  await run.start({ order: 'A1', cents: 40 });
  return run;
}

describe('a state that waits for an event from outside', () => {
  it('is asked, and the answer sends the event', async () => {
    const run = await begun();
    expect(asked(run)).toEqual({ review: 'Pay 40?' });
    const end = await run.resume({ review: accept({ event: 'CONFIRM' }) });
    expect(end).toMatchObject({ result: 'paid A1 40, entered 1' });
  });

  it('is asked again by an event that does not leave it, with the context of then', async () => {
    const run = await begun();
    await run.resume({ review: accept({ event: 'CHANGE', cents: 30 }) });
    expect(asked(run)).toEqual({ 'review@2': 'Pay 30?' });
    await run.resume({ 'review@2': accept({ event: 'CHANGE', cents: 20 }) });
    expect(asked(run)).toEqual({ 'review@3': 'Pay 20?' });
    const end = await run.resume({ 'review@3': accept({ event: 'CONFIRM' }) });
    expect(end).toMatchObject({ result: 'paid A1 20, entered 1' });
  });

  it('is asked once when it is entered again, and again after an event that nothing takes', async () => {
    const run = await begun();
    await run.resume({ review: accept({ event: 'RESTART' }) });
    expect(asked(run)).toEqual({ 'review@2': 'Pay 40?' });
    await run.resume({ 'review@2': accept({ event: 'UNKNOWN' }) });
    expect(asked(run)).toEqual({ 'review@3': 'Pay 40?' });
    const end = await run.resume({ 'review@3': accept({ event: 'CONFIRM' }) });
    expect(end).toMatchObject({ result: 'paid A1 40, entered 2' });
  });

  it('sends the event of a refusal, or fails with it', async () => {
    const run = await begun();
    expect(await run.resume({ review: { action: 'decline' } })).toMatchObject({
      result: 'paid , entered 1',
    });
    const strict = machineSaga(
      { ...options, input, asks: { review: { ask: decide, onAnswer: () => undefined } } },
      checkout,
    );
    const refused = new Drive(strict);
    await refused.start({ order: 'A1', cents: 40 });
    const { error } = failureOf(await refused.resume({ review: { action: 'decline' } }));
    expect(error).toMatchObject({ name: 'ElicitationRefused' });
  });

  it('may be inside of another one, and beside other regions', async () => {
    const nested = setup({ types: { output: {} as string } }).createMachine({
      type: 'parallel',
      states: {
        one: {
          initial: 'a',
          states: {
            a: { initial: 'b', states: { b: { on: { GO: '#one-done' } } } },
            done: { id: 'one-done', type: 'final' },
          },
        },
        two: { initial: 'a', states: { a: { on: { NEXT: 'done' } }, done: { type: 'final' } } },
      },
      output: 'both',
    });
    const plain = elicit({ message: 'Go?', schema: z.object({}) });
    const run = new Drive(
      machineSaga(
        {
          ...options,
          asks: {
            'one.a.b': { ask: plain, onAnswer: ({ send }) => send({ type: 'GO' }) },
            'two.a': { ask: plain, onAnswer: ({ send }) => send({ type: 'NEXT' }) },
          },
        },
        nested,
      ),
    );
    await run.start();
    expect(asked(run)).toEqual({ 'one.a.b': 'Go?', 'two.a': 'Go?' });
    await run.resume({ 'two.a': accept({}) });
    expect(asked(run)).toEqual({ 'one.a.b': 'Go?' });
    expect(await run.resume({ 'one.a.b': accept({}) })).toMatchObject({ result: 'both' });
  });

  it('may wait for another person, and its steps are undone like any others', async () => {
    const did: string[] = [];
    const urls: string[] = [];
    const held = setup({
      types: { output: {} as string },
      actors: {
        hold: step(() => void did.push('hold'), { compensate: () => void did.push('release') }),
      },
    }).createMachine({
      initial: 'holding',
      states: {
        holding: { invoke: { id: 'hold', src: 'hold', onDone: 'waiting' } },
        waiting: { on: { YES: 'granted', NO: 'denied' } },
        granted: { type: 'final', output: 'granted' },
        denied: { type: 'final', tags: 'compensate', output: 'denied' },
      },
    });
    const asks = machineSaga(
      {
        name: 'held',
        version: '1',
        asks: {
          waiting: {
            ask: approval({
              message: 'Grant?',
              timeout: '1d',
              link: 'accept',
              deliver: ({ url }) => void urls.push(url),
            }),
            onAnswer: ({ answer: { approved }, send }) => send({ type: approved ? 'YES' : 'NO' }),
          },
        },
      },
      held,
    );
    const clock = testClock();
    const host = createSagaHost({
      sagas: [asks],
      name: 'shop',
      keys: 'ephemeral',
      store: memoryStore({ clock }),
      url: 'https://shop.example',
      limits: { maxHold: 0 },
      hooks: { onWarning: () => undefined },
      testing: { clock, sleep: async (ms) => void (clock.now += ms) },
    });
    const turn = await host.start('held', {}, { caller: 'anonymous' });
    expect(did).toEqual(['hold']);
    await host.answer(
      new Request(urls[0] ?? '', {
        method: 'POST',
        headers: { origin: 'null', 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ decision: 'deny' }),
      }),
      { caller: 'anonymous' },
    );
    const end: SagaTurn = await host.resume((turn as { readonly token: string }).token, [], {
      caller: 'anonymous',
    });
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'hold' }] });
    expect(did).toEqual(['hold', 'release']);
  });
});

describe('a question of a state', () => {
  const plain = elicit({ message: 'Go?', schema: z.object({ go: z.string().optional() }) });
  const goes = {
    ask: plain,
    onAnswer: ({ answer, send }: { answer: { go?: string }; send: (event: object) => void }) => {
      if (answer.go !== undefined) send({ type: answer.go });
    },
  };
  const served = (machine: unknown, asks: object): Drive =>
    new Drive(
      machineSaga(
        {
          ...options,
          asks,
          result: ({ value, context }: { value: unknown; context: unknown }) =>
            JSON.stringify([value, context]),
        } as never,
        machine as never,
      ),
    );

  it.each([
    [
      'another region',
      {
        type: 'parallel',
        context: {},
        states: {
          one: { initial: 'a', states: { a: { on: { GO: 'done' } }, done: { type: 'final' } } },
          two: {
            initial: 'x',
            states: {
              x: { on: { GO: 'ok', '*': 'unexpected' } },
              ok: { type: 'final' },
              unexpected: { type: 'final' },
            },
          },
        },
      },
      'one.a',
      '[{"two":"ok","one":"done"},{}]',
    ],
    [
      'a state inside',
      {
        context: { seen: 0 },
        initial: 'a',
        states: {
          a: {
            initial: 'inner',
            on: { GO: 'done' },
            states: {
              inner: {
                on: {
                  '*': {
                    guard: ({ event }: { event: { type: string } }) => event.type !== 'GO',
                    actions: assign({
                      seen: ({ context }) => (context as { seen: number }).seen + 1,
                    }),
                  },
                },
              },
            },
          },
          done: { type: 'final' },
        },
      },
      'a',
      '["done",{"seen":0}]',
    ],
  ])('is no event for a transition for any event, in %s', async (_, config, state, result) => {
    const run = served(setup({}).createMachine(config as never), { [state]: goes });
    await run.start();
    expect(await run.resume({ [state]: accept({ go: 'GO' }) })).toMatchObject({ result });
  });

  it('that is refused fails the saga, although the machine takes any event', async () => {
    const machine = setup({}).createMachine({
      initial: 'a',
      on: { '*': { actions: () => undefined } },
      states: { a: { on: { GO: 'done' } }, done: { type: 'final' } },
    } as never);
    const run = served(machine, { a: goes });
    await run.start();
    const { error } = failureOf(await run.resume({ a: { action: 'decline' } }));
    expect(error).toMatchObject({ name: 'ElicitationRefused' });
  });

  it('that fails at once fails the saga if `onError` sends nothing', async () => {
    let told = 0;
    const broken = approval({
      message: 'Go?',
      timeout: '1d',
      link: 'accept',
      deliver: () => {
        throw new Error('mail is down');
      },
    });
    const machine = setup({}).createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'done' } }, done: { type: 'final' } },
    });
    const clock = testClock();
    const host = createSagaHost({
      sagas: [
        machineSaga(
          {
            name: 'broken',
            version: '1',
            asks: {
              a: { ask: broken, onAnswer: () => undefined, onError: () => void (told += 1) },
            },
            result: () => 'done',
          },
          machine,
        ),
      ],
      name: 'shop',
      keys: 'ephemeral',
      store: memoryStore({ clock }),
      url: 'https://shop.example',
      hooks: { onWarning: () => undefined, onTurn: () => undefined, onError: () => undefined },
      testing: { clock, sleep: async (ms) => void (clock.now += ms) },
    });
    let turn: SagaTurn = await host.start('broken', {}, { caller: 'anonymous' });
    // The delivery is tried again, with pauses.
    for (let turns = 1; turn.status === 'suspended' && turns < 20; turns += 1) {
      clock.now += turn.retryAfterMs ?? 0;
      turn = await host.resume(turn.token, [], { caller: 'anonymous' });
    }
    expect(turn).toMatchObject({ status: 'failed' });
    expect(told).toBe(1);
  });

  it('may be in a state whose name is no ID, or is taken by an invoke', async () => {
    const machine = setup({
      actors: { never: fromPromise(() => new Promise<never>(() => undefined)) },
    }).createMachine({
      initial: 'a/b',
      states: {
        'a/b': { on: { GO: 'constructor' } },
        constructor: { on: { GO: 'e' } },
        e: { on: { GO: 'done' }, entry: assign({}) },
        done: { type: 'final' },
      },
    } as never);
    const run = served(machine, { 'a/b': goes, constructor: goes, e: goes });
    await run.start();
    for (const stepId of ['a-b', 'constructor.asked@2'])
      await run.resume({ [stepId]: accept({ go: 'GO' }) });
    expect(run.asked).toEqual(['e@3']);
    const taken = setup({
      actors: { look: fromPromise(async () => 1) },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'a', src: 'look' }, on: { GO: 'done' } },
        done: { type: 'final' },
      },
    });
    const other = served(taken, { a: goes });
    await other.start();
    expect(other.asked).toEqual(['a.asked']);
  });

  it.each([['final'], ['history']])('is refused in a %s state', (type) => {
    const machine = setup({}).createMachine({
      initial: 'a',
      states: {
        a: { after: { 1: 'b' }, initial: 'x', states: { x: {}, b: { type } } },
        b: { type: 'final' },
      },
    } as never);
    expect(() => served(machine, { 'a.b': goes })).toThrow(AuthoringError);
    if (type === 'history') expect(() => served(machine, { 'a.b': 'end' })).toThrow(AuthoringError);
  });

  it('has no async handler: its event would come too late', async () => {
    const machine = setup({}).createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'done' } }, done: { type: 'final' } },
    });
    const run = served(machine, { a: { ask: plain, onAnswer: async () => undefined } });
    await run.start();
    const { error } = failureOf(await run.resume({ a: accept({}) }));
    expect(String(error)).toContain('async function');
  });
});

describe('a machine that is asked as a whole', () => {
  const lamp = setup({
    types: { context: {} as { seen: string[] } },
    actors: { glow: fromPromise(async () => 'glow') },
  }).createMachine({
    context: { seen: [] },
    initial: 'dark',
    on: {
      NOTE: { actions: assign({ seen: ({ context }) => [...context.seen, 'note'] }) },
      OFF: '.dark',
    },
    states: {
      dark: { on: { ON: 'glowing' } },
      glowing: { invoke: { id: 'glow', src: 'glow', onDone: 'light' } },
      light: {},
    },
  });
  const whole = (result?: object): Drive =>
    new Drive(
      machineSaga(
        {
          ...options,
          ...result,
          asks: {
            '(machine)': {
              ask: elicit({ message: 'What?', schema: z.object({ event: z.string() }) }),
              onAnswer: ({
                answer,
                send,
                end,
              }: {
                answer: { event: string };
                send: (event: object) => void;
                end: () => void;
              }) => {
                for (const type of answer.event.split(' ')) {
                  if (type === 'END') end();
                  else send({ type });
                }
              },
              onError: ({ end }: { end: () => void }) => end(),
            },
          },
        } as never,
        lamp as never,
      ),
    );
  const result = ({ value, context }: { value: string; context: { seen: string[] } }): string =>
    `${value} ${context.seen.join()}`;

  it('is asked in each of its states, to its end', async () => {
    const run = whole({ result });
    await run.start();
    expect(asked(run)).toEqual({ '(machine)': 'What?' });
    await run.resume({ '(machine)': accept({ event: 'ON' }) });
    expect(asked(run)).toEqual({ '(machine)@2': 'What?' });
    await run.resume({ '(machine)@2': accept({ event: 'NOTE' }) });
    const end = await run.resume({ '(machine)@3': accept({ event: 'END' }) });
    expect(end).toMatchObject({ status: 'completed', result: 'light note' });
  });

  it('ends after the events that its answer sent, in the state of then', async () => {
    const run = whole({ result });
    await run.start();
    const end = await run.resume({ '(machine)': accept({ event: 'NOTE ON END NOTE' }) });
    expect(end).toMatchObject({ status: 'completed', result: 'glowing note' });
    const refused = whole({ result });
    await refused.start();
    expect(await refused.resume({ '(machine)': { action: 'decline' } })).toMatchObject({
      result: 'dark ',
    });
  });

  it('fails if it ends without a result', async () => {
    const run = whole();
    await run.start();
    const { error } = failureOf(await run.resume({ '(machine)': accept({ event: 'END' }) }));
    expect(error).toBeInstanceOf(AuthoringError);
    expect(String(error)).toContain('Add the option `result');
  });
});

describe('a state that ends the saga', () => {
  const until = (states: object, asks: object, more: object = {}): unknown =>
    machineSaga(
      {
        ...options,
        asks,
        result: ({ value, context }: { value: unknown; context: unknown }) =>
          JSON.stringify([value, context]),
        ...more,
      } as never,
      setup({ actors: { work: fromPromise(async () => 1) } }).createMachine({
        initial: 'a',
        context: { entered: 0 },
        states,
      } as never) as never,
    );

  it('does so when it is entered, after its actions, also inside of another one', async () => {
    const entry = assign({
      entered: ({ context }: { context: { entered: number } }) => context.entered + 1,
    });
    const states = {
      a: { invoke: { id: 'work', src: 'work', onDone: 'b' } },
      b: { initial: 'c', states: { c: { entry, on: { NEXT: 'd' } }, d: {} } },
    };
    const run = new Drive(until(states, { 'b.c': 'end' }) as never);
    expect(await run.start()).toMatchObject({
      status: 'completed',
      result: '[{"b":"c"},{"entered":1}]',
    });
    const first = new Drive(until({ a: {} }, { a: 'end' }) as never);
    expect(await first.start()).toMatchObject({ result: '["a",{"entered":0}]' });
  });

  it('leads to no other state, so nobody needs to be asked behind it', () => {
    const states = { a: { on: { NEXT: 'b' } }, b: { on: { BACK: 'a' } } };
    expect(() => until(states, { a: 'end' })).not.toThrow();
  });

  it('needs the option `result`', () => {
    expect(() => until({ a: {} }, { a: 'end' }, { result: undefined })).toThrow(
      "asks['a'] ends the machine, which has no result then",
    );
  });
});

describe('a saga of a machine that waits for events', () => {
  const make = (machine: AnyStateMachine, asks?: object): unknown =>
    machineSaga({ ...options, asks } as never, machine as never);
  const waiting = (state: object): AnyStateMachine =>
    setup({ actors: { charge: fromPromise(() => Promise.resolve()) } }).createMachine({
      initial: 'open',
      states: { open: state, done: { type: 'final', output: 'done' } },
    } as never) as unknown as AnyStateMachine;
  const ask = { ask: decide, onAnswer: () => undefined };

  it('is refused at once if nobody sends them: with the state, and its events', () => {
    const open = waiting({ on: { NEXT: 'done', BACK: 'open' } });
    expect(() => make(open)).toThrow(AuthoringError);
    expect(() => make(open)).toThrow("in state 'open', which only NEXT, BACK can leave");
    const nested = waiting({ initial: 'a', states: { a: {} }, on: { NEXT: 'done' } });
    expect(() => make(nested)).toThrow("in state 'open.a'");
  });

  it.each<[string, object]>([
    ['a delay', { on: { NEXT: 'done' }, after: { 1_000: 'done' } }],
    ['an invoke', { on: { NEXT: 'done' }, invoke: { src: 'charge', onDone: 'done' } }],
    [
      'an actor that an action has spawned',
      { on: { NEXT: 'done', 'xstate.done.actor.x': 'done' } },
    ],
    ['a transition without an event', { on: { NEXT: 'done' }, always: 'done' }],
    [
      'transitions with guards',
      {
        on: { NEXT: 'done' },
        always: [
          { guard: () => true, target: 'done' },
          { guard: () => false, target: 'open' },
        ],
      },
    ],
    ['any event', { on: { NEXT: 'done', '*': 'done' } }],
    [
      'a function of the author',
      {
        entry: ({ self }: { self: { send: (event: object) => void } }) =>
          self.send({ type: 'NEXT' }),
        on: { NEXT: 'done' },
      },
    ],
    [
      'an action of its first state',
      {
        initial: { target: 'a', actions: raise({ type: 'NEXT' }) },
        states: { a: {} },
        on: { NEXT: 'done' },
      },
    ],
    ['an action of the machine', { entry: raise({ type: 'NEXT' }), on: { NEXT: 'done' } }],
  ])('is not refused if the state is also left by %s', (_, state) => {
    expect(() => make(waiting(state))).not.toThrow();
  });

  it('is not refused for a state that only events lead to which nobody sends', () => {
    const machine = setup({
      actors: { work: fromPromise(async () => 1) },
    }).createMachine({
      initial: 'working',
      on: { PAUSE: '.paused' },
      states: {
        working: { invoke: { src: 'work', onDone: 'done' } },
        paused: { on: { RESUME: 'working' } },
        done: { type: 'final', output: 'done' },
      },
    } as never) as unknown as AnyStateMachine;
    expect(() => make(machine)).not.toThrow();
    // The same question sends PAUSE.
    const pausing = setup({}).createMachine({
      initial: 'working',
      states: {
        working: { on: { PAUSE: 'paused', END: 'done' } },
        paused: { on: { RESUME: 'working' } },
        done: { type: 'final', output: 'done' },
      },
    } as never) as unknown as AnyStateMachine;
    expect(() => make(pausing, { working: ask })).toThrow("in state 'paused'");
  });

  it('is refused for a machine without states, too', () => {
    const counter = setup({}).createMachine({ on: { NEXT: {} } } as never) as never;
    expect(() => make(counter)).toThrow("in state '(machine)', which only NEXT can leave");
    expect(() => make(counter, { '(machine)': ask })).not.toThrow();
  });

  it('is not refused if the state is asked, or its events are internal', () => {
    const open = waiting({ on: { NEXT: 'done' } });
    expect(() => make(open, { open: ask })).not.toThrow();
    expect(() => make(open, { open: 'internal' })).not.toThrow();
  });

  it.each<[string, object, string]>([
    ['a state that is not there', { opne: ask }, "Did you mean 'open'?"],
    ['no logic', { open: { ...ask, ask: 5 } }, "asks['open'] needs an `ask`"],
    ['a logic that asks nobody', { open: { ...ask, ask: step(() => 1) } }, 'needs an `ask`'],
    ['no handler', { open: { ask: decide } }, '`onAnswer:'],
    ['another word', { open: 'external' }, "'internal'"],
    ['another word for an end', { open: 'final' }, "'end'"],
  ])('is refused for an entry with %s', (_, asks, message) => {
    const open = waiting({ on: { NEXT: 'done' } });
    expect(() => make(open, asks)).toThrow(AuthoringError);
    expect(() => make(open, asks)).toThrow(message);
  });
});
