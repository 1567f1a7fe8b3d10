/**
 * Example machines of XState without a final state: their pages and processes stop them. An answer
 * ends them here, and the option `result` tells what they had become. The shapes are theirs; names,
 * texts, and data are not.
 */
import { crashEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { elicit, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, createMachine, forwardTo, fromPromise, sendParent, setup } from 'xstate';
import { z } from 'zod';
import { act, choose, chooseOrEnd, stateOf, work } from '../support/example-shapes.ts';

const did = new Provider<string>();
const providers = [did];

describe('[R1] an example machine of XState without a final state', () => {
  it('serves counter, which has no states', async () => {
    const machine = createMachine({
      id: 'sheep',
      context: { sheep: 0 },
      on: {
        comes: { actions: assign({ sheep: ({ context }) => context.sheep + 1 }) },
        goes: { actions: assign({ sheep: ({ context }) => context.sheep - 1 }) },
      },
    });
    const saga = machineSaga(
      {
        name: 'sheep',
        version: '1',
        asks: { '(machine)': chooseOrEnd('comes', 'goes') },
        result: ({ context }) => `${context.sheep} sheep`,
      },
      machine,
    );
    const test = testSaga(saga)
      .on.elicit('(machine)', { event: 'comes' })
      .on.elicit('(machine)@2', { event: 'comes' })
      .on.elicit('(machine)@3', { event: 'goes' })
      .on.elicit('(machine)@4', {});
    expect((await test.run()).result).toBe('1 sheep');
    await crashEverywhere(test);
  });

  it('serves toggle, two states and an event', async () => {
    const machine = createMachine({
      id: 'door',
      initial: 'shut',
      states: { shut: { on: { push: 'ajar' } }, ajar: { on: { push: 'shut' } } },
    });
    const ask = chooseOrEnd('push');
    const saga = machineSaga(
      {
        name: 'door',
        version: '1',
        asks: { shut: ask, ajar: ask },
        result: ({ value }) => `The door is ${stateOf(value)}.`,
      },
      machine,
    );
    const test = testSaga(saga).on.elicit('shut', { event: 'push' }).on.elicit('ajar', {});
    expect((await test.run()).result).toBe('The door is ajar.');
  });

  it('serves fetch, which retries by an event or a delay, and stays in a state', async () => {
    let failures = 0;
    const machine = setup({
      types: { context: {} as { city: string; sky: { text: string } | null } },
      actors: {
        look: fromPromise(async ({ input }: { input: { city: string } }) => {
          if (failures-- > 0) throw new Error('Fog.');
          return { text: `Blue above ${input.city}` };
        }),
      },
    }).createMachine({
      initial: 'inside',
      context: { city: 'Bern', sky: null },
      states: {
        inside: { on: { LOOK: 'looking' } },
        looking: {
          invoke: {
            src: 'look',
            input: ({ context }) => ({ city: context.city }),
            onDone: { target: 'seen', actions: assign({ sky: ({ event }) => event.output }) },
            onError: 'blind',
          },
        },
        seen: {},
        blind: { after: { 1_000: 'looking' }, on: { AGAIN: 'looking' } },
      },
    });
    const saga = machineSaga(
      {
        name: 'weather',
        version: '1',
        asks: { inside: choose('LOOK'), blind: choose('AGAIN'), seen: 'end' },
        steps: { look: { reads: true } },
        result: ({ context }) => context.sky?.text ?? 'Nothing.',
      },
      machine,
    );
    const failing = (times: number) =>
      testSaga(saga, { before: () => void (failures = times) }).on.elicit('inside', {
        event: 'LOOK',
      });
    expect((await failing(0).run()).result).toBe('Blue above Bern');
    const asked = await failing(1).on.elicit('blind', { event: 'AGAIN' }).run();
    expect(asked.result).toBe('Blue above Bern');
    const silent = await failing(2).silent.elicit('blind', 1_000).run();
    expect(silent.result).toBe('Blue above Bern');
    await crashEverywhere(failing(0));
  });

  it('serves persisted-donut-maker, with regions inside, and events from the terminal', async () => {
    const mixing = (event: string) => ({
      initial: 'busy',
      states: { busy: { on: { [event]: 'ready' } }, ready: { type: 'final' as const } },
    });
    const machine = createMachine({
      id: 'letter',
      initial: 'paper',
      states: {
        paper: { on: { ON: 'text' } },
        text: {
          initial: 'date',
          onDone: 'fold',
          states: {
            date: { on: { ON: 'both' } },
            both: {
              type: 'parallel',
              states: { words: mixing('WRITTEN'), drawing: mixing('DRAWN') },
              onDone: 'whole',
            },
            whole: { type: 'final' },
          },
        },
        fold: { on: { ON: 'envelope' } },
        envelope: { on: { ON: 'seal' } },
        seal: { on: { ON: 'stamp' } },
        stamp: { on: { ON: 'sent' } },
        sent: { on: { ONE_MORE: 'paper' } },
      },
    });
    const on = choose('ON');
    const saga = machineSaga(
      {
        name: 'letter',
        version: '1',
        asks: {
          paper: on,
          'text.date': on,
          'text.both.words.busy': choose('WRITTEN'),
          'text.both.drawing.busy': choose('DRAWN'),
          fold: on,
          envelope: on,
          seal: on,
          stamp: on,
          sent: chooseOrEnd('ONE_MORE'),
        },
        result: ({ value }) => `The letter is ${stateOf(value)}.`,
      },
      machine,
    );
    const test = ['paper', 'text.date', 'fold', 'envelope', 'seal', 'stamp']
      .reduce((script, state) => script.on.elicit(state, { event: 'ON' }), testSaga(saga))
      .on.elicit('text.both.words.busy', { event: 'WRITTEN' })
      .on.elicit('text.both.drawing.busy', { event: 'DRAWN' });
    expect((await test.on.elicit('sent', {}).run()).result).toBe('The letter is sent.');
    const two = test.on.elicit('sent', { event: 'ONE_MORE' }).on.elicit('sent@16', {});
    expect((await two.run()).result).toBe('The letter is sent.');
  });

  it('serves workflow-event-based-service, which waits again after its promise', async () => {
    interface Guest {
      readonly name: string;
      readonly meal: string;
    }
    const machine = setup({
      actors: {
        reserve: work(
          did,
          ({ guest }: { guest: Guest | null }) => `table for ${guest?.name}`,
          () => ({ table: { number: 4 } }),
        ),
      },
    }).createMachine({
      id: 'tables',
      types: {} as {
        context: { guest: Guest | null; table: { table: { number: number } } | null };
        events: { type: 'Reserve'; guest: Guest };
      },
      initial: 'Free',
      context: { guest: null, table: null },
      states: {
        Free: {
          on: {
            Reserve: { target: 'Busy', actions: assign({ guest: ({ event }) => event.guest }) },
          },
        },
        Busy: {
          invoke: {
            src: 'reserve',
            input: ({ context }) => ({ guest: context.guest }),
            onDone: { target: 'Free', actions: assign({ table: ({ event }) => event.output }) },
          },
        },
      },
    });
    const saga = machineSaga(
      {
        name: 'tables',
        version: '1',
        asks: {
          Free: {
            ask: elicit({
              message: 'Who comes?',
              schema: z.object({ name: z.string().optional(), meal: z.string().optional() }),
            }),
            onAnswer: ({ answer: { name, meal = 'dinner' }, send, end }) =>
              name === undefined ? end() : send({ type: 'Reserve', guest: { name, meal } }),
          },
        },
        result: ({ context }) => `${context.guest?.name} has table ${context.table?.table.number}.`,
      },
      machine,
    );
    const test = testSaga(saga, { providers })
      .on.elicit('Free', { name: 'Jo' })
      .on.elicit('Free@2', { name: 'Kim' })
      .on.elicit('Free@3', {});
    expect((await test.run()).result).toBe('Kim has table 4.');
    await crashEverywhere(test, {
      check: () => expect(did.standing).toEqual(['table for Jo', 'table for Kim']),
    });
  });

  it('serves workflow-monitor-patient, whose events only run actions', async () => {
    const acted: string[] = [];
    interface Fault<Name extends string> {
      readonly type: Name;
      readonly data: { readonly value: string };
    }
    const machine = createMachine(
      {
        id: 'greenhouse',
        types: {
          input: {} as { house: string },
          context: {} as { house: string },
          events: {} as Fault<'garden.plant.dry'> | Fault<'garden.air.hot'>,
        },
        context: ({ input }) => ({ house: input.house }),
        initial: 'Watch',
        states: {
          Watch: {
            on: {
              'garden.plant.dry': { actions: 'water' },
              'garden.air.hot': { actions: 'open' },
            },
          },
        },
      },
      {
        actions: {
          water: ({ context }) => void acted.push(`water ${context.house}`),
          open: ({ context }) => void acted.push(`open ${context.house}`),
        },
      },
    );
    const What = z.object({ what: z.enum(['garden.plant.dry', 'garden.air.hot']).optional() });
    const saga = machineSaga(
      {
        name: 'greenhouse',
        version: '1',
        input: z.object({ house: z.string() }),
        asks: {
          Watch: {
            ask: elicit({ message: 'What is wrong?', schema: What }),
            onAnswer: ({ answer: { what: type }, send, end }) =>
              type === undefined ? end() : send({ type, data: { value: 'very' } }),
          },
        },
        result: ({ context }) => `${context.house} is fine.`,
      },
      machine,
    );
    const test = testSaga(saga, { input: { house: 'North' } })
      .on.elicit('Watch', { what: 'garden.plant.dry' })
      .on.elicit('Watch@2', { what: 'garden.air.hot' })
      .on.elicit('Watch@3', {});
    expect((await test.run()).result).toBe('North is fine.');
    expect(acted).toEqual(['water North', 'open North']);
    // Actions are no steps: without a store, a request that is sent again runs them again.
    acted.length = 0;
    const storeless = testSaga(saga, { input: { house: 'North' }, store: false });
    await storeless.on
      .elicit('Watch', { what: 'garden.plant.dry' })
      .on.elicit('Watch@2', {})
      .lose.response(2)
      .run();
    expect(acted).toEqual(['water North', 'water North']);
  });

  it('serves workflow-accumulate-room-readings, whose delay has a guard', async () => {
    const machine = setup({
      types: {
        events: {} as { type: 'Steps'; steps: number } | { type: 'Sleep'; hours: number },
        context: {} as { steps: number | null; hours: number | null },
      },
      delays: { EVENING: 10_000 },
      actors: {
        report: work(
          did,
          (input: { steps: number | null; hours: number | null }) =>
            `${input.steps} steps, ${input.hours} hours`,
          () => undefined,
        ),
      },
    }).createMachine({
      id: 'diary',
      initial: 'Day',
      context: { steps: null, hours: null },
      states: {
        Day: {
          entry: assign({ steps: null, hours: null }),
          on: {
            Steps: { actions: assign({ steps: ({ event }) => event.steps }) },
            Sleep: { actions: assign({ hours: ({ event }) => event.hours }) },
          },
          after: {
            EVENING: {
              guard: ({ context }) => context.steps !== null && context.hours !== null,
              target: 'Report',
            },
          },
        },
        Report: {
          invoke: {
            src: 'report',
            input: ({ context }) => ({ steps: context.steps, hours: context.hours }),
            onDone: { target: 'Day' },
          },
        },
      },
    });
    const saga = machineSaga(
      {
        name: 'diary',
        version: '1',
        asks: {
          Day: {
            ask: elicit({
              message: 'How was it?',
              schema: z.object({ steps: z.int().optional(), hours: z.number().optional() }),
            }),
            onAnswer: ({ answer: { steps, hours }, send, end }) => {
              if (steps !== undefined) send({ type: 'Steps', steps });
              if (hours !== undefined) send({ type: 'Sleep', hours });
              if (steps === undefined && hours === undefined) end();
            },
          },
        },
        result: ({ value }) => `The diary ends in the ${value}.`,
      },
      machine,
    );
    const test = testSaga(saga, { providers })
      .on.elicit('Day', { steps: 900 })
      .on.elicit('Day@2', { hours: 8 })
      .silent.elicit('Day@3', 10_000)
      .on.elicit('Day@4', {});
    expect((await test.run()).result).toBe('The diary ends in the Day.');
    await crashEverywhere(test, {
      check: () => expect(did.standing).toEqual(['900 steps, 8 hours']),
    });
  });

  it('serves workflow-car-vitals, which runs a machine every second until an event', async () => {
    const check = (name: string) =>
      work(
        did,
        (_input: undefined) => name,
        () => ({ left: 1 }),
      );
    type Stock = { left: number } | null;
    const pantry = createMachine(
      {
        id: 'pantry',
        types: {} as { context: { bread: Stock; milk: Stock; salt: Stock } },
        context: { bread: null, milk: null, salt: null },
        initial: 'Count',
        states: {
          Count: {
            invoke: [
              {
                src: 'bread',
                onDone: { actions: assign({ bread: ({ event }) => event.output as Stock }) },
              },
              {
                src: 'milk',
                onDone: { actions: assign({ milk: ({ event }) => event.output as Stock }) },
              },
              {
                src: 'salt',
                onDone: { actions: assign({ salt: ({ event }) => event.output as Stock }) },
              },
            ],
            always: {
              guard: ({ context: { bread, milk, salt } }) =>
                bread !== null && milk !== null && salt !== null,
              target: 'Counted',
            },
          },
          Counted: { type: 'final', output: ({ context }) => context },
        },
      },
      { actors: { bread: check('bread'), milk: check('milk'), salt: check('salt') } },
    );
    const counts: unknown[] = [];
    const machine = createMachine(
      {
        id: 'shop',
        initial: 'Closed',
        states: {
          Closed: { on: { Open: 'Count' } },
          Count: {
            invoke: {
              src: 'pantry',
              onDone: { actions: ({ event }) => void counts.push(event.output), target: 'Rest' },
            },
          },
          Rest: { after: { 1_000: 'Count' } },
        },
        on: { Close: { actions: 'note', target: '.Closed' } },
      },
      { actors: { pantry }, actions: { note: () => undefined } },
    );
    const saga = machineSaga(
      {
        name: 'shop',
        version: '1',
        asks: { '(machine)': chooseOrEnd('Open', 'Close') },
        result: ({ value }) => `The shop is ${stateOf(value)}.`,
      },
      machine,
    );
    const test = testSaga(saga, { providers, before: () => void (counts.length = 0) })
      .on.elicit('(machine)', { event: 'Open' })
      .on.elicit('(machine)@2', { event: 'Close' })
      // An answer counts before a delay that is over for less than 30 s.
      .late.elicit('(machine)@2', 32_500)
      .on.elicit('(machine)@3', {});
    expect((await test.run()).result).toBe('The shop is Closed.');
    // Its root has no output.
    expect(counts).toEqual([undefined, undefined]);
    expect(did.standing).toHaveLength(6);
    await crashEverywhere(test, { check: () => expect(did.standing).toHaveLength(6) });
  });

  it('serves workflow-reusing-functions, which forwards an event to a machine inside', async () => {
    interface Paint {
      readonly type: 'Paint';
      readonly wall: string;
      readonly liters: number;
    }
    const painting = setup({
      types: {
        events: {} as Paint,
        context: {} as { wall: string | null; liters: number | null; enough: boolean | null },
      },
      actors: {
        measure: fromPromise(async ({ input }: { input: { liters: number } }) => ({
          enough: input.liters >= 5,
        })),
        paint: act<{ wall: string | null }>(did, 'paint'),
        buy: act<{ wall: string | null }>(did, 'buy'),
      },
      guards: { isEnough: ({ context }) => context.enough === true },
    }).createMachine({
      id: 'painting',
      initial: 'Ready',
      context: { wall: null, liters: null, enough: null },
      states: {
        Ready: {
          on: {
            Paint: {
              actions: assign({
                wall: ({ event }) => event.wall,
                liters: ({ event }) => event.liters,
              }),
              target: 'Measure',
            },
          },
        },
        Measure: {
          invoke: {
            src: 'measure',
            input: ({ context }) => ({ liters: context.liters ?? 0 }),
            onDone: {
              actions: assign({ enough: ({ event }) => event.output.enough }),
              target: 'Choose',
            },
          },
        },
        Choose: { always: [{ guard: 'isEnough', target: 'Paint' }, { target: 'Buy' }] },
        Paint: {
          invoke: {
            src: 'paint',
            input: ({ context }) => ({ wall: context.wall }),
            onDone: { target: 'Over' },
          },
        },
        Buy: {
          invoke: {
            src: 'buy',
            input: ({ context }) => ({ wall: context.wall }),
            onDone: { target: 'Over' },
          },
        },
        Over: {
          type: 'final',
          entry: sendParent(({ context }) => ({ type: 'Painted', wall: context.wall })),
        },
      },
    });
    const seen: string[] = [];
    const house = createMachine({
      id: 'house',
      types: {} as { events: Paint },
      invoke: {
        id: 'painting',
        src: painting,
        onSnapshot: { actions: () => undefined },
      },
      on: {
        Paint: { actions: forwardTo('painting') },
        '*': { actions: ({ event }) => void seen.push((event as { type: string }).type) },
      },
    });
    const saga = machineSaga(
      {
        name: 'house',
        version: '1',
        asks: {
          '(machine)': {
            ask: elicit({
              message: 'Paint what?',
              schema: z.object({ wall: z.string().optional(), liters: z.number().optional() }),
            }),
            onAnswer: ({ answer: { wall, liters = 0 }, send, end }) =>
              wall === undefined ? end() : send({ type: 'Paint', wall, liters }),
          },
        },
        steps: { 'painting/measure': { reads: true } },
        result: () => 'The house is over.',
      },
      house,
    );
    const paints = (liters: number) =>
      testSaga(saga, { providers, before: () => void (seen.length = 0) })
        .on.elicit('(machine)', { wall: 'north', liters })
        .on.elicit('(machine)@2', {});
    expect((await paints(9).run()).result).toBe('The house is over.');
    expect(did.standing).toEqual(['paint']);
    expect(seen).toContain('Painted');
    expect(seen.filter((type) => type.startsWith('mcp-saga'))).toEqual([]);
    await paints(1).run();
    expect(did.standing).toEqual(['buy']);
    await crashEverywhere(paints(9), { check: () => expect(did.standing).toEqual(['paint']) });
  });
});
