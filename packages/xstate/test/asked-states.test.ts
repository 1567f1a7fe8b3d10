import { AuthoringError } from '@mcp-saga/core/program';
import { createSagaHost, memoryStore, type SagaTurn } from '@mcp-saga/server';
import { approval, elicit, machineSaga, step } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, fromPromise, raise, setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
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
    const host = createSagaHost({
      sagas: [asks],
      name: 'shop',
      keys: 'ephemeral',
      store: memoryStore(),
      url: 'https://shop.example',
      hooks: { onWarning: () => undefined },
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
    ['an action of the machine', { entry: raise({ type: 'NEXT' }), on: { NEXT: 'done' } }],
  ])('is not refused if the state is also left by %s', (_, state) => {
    expect(() => make(waiting(state))).not.toThrow();
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
  ])('is refused for an entry with %s', (_, asks, message) => {
    const open = waiting({ on: { NEXT: 'done' } });
    expect(() => make(open, asks)).toThrow(AuthoringError);
    expect(() => make(open, asks)).toThrow(message);
  });
});
