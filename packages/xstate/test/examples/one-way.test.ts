/**
 * Example machines of XState that wait for nobody: they run their promises and delays, and end. The
 * shapes are theirs; names, texts, and data are not.
 */
import { crashEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { act, stateOf, work } from '../support/example-shapes.ts';

const did = new Provider<string>();
const providers = [did];

/** They have acted before their client has a token: without its first response, it starts another. */
const again = { firstRequest: 'accept' } as const;

describe('[R1] an example machine of XState that waits for nobody', () => {
  it('serves workflow-hello, which ends in its first state, with an object as output', async () => {
    const machine = createMachine({
      id: 'sign',
      initial: 'Lit up',
      states: { 'Lit up': { type: 'final', output: { sign: 'Open.' } } },
    });
    const sign = machineSaga(
      {
        name: 'sign',
        version: '1',
        output: z.object({ sign: z.string() }),
        result: ({ output }) => output as { sign: string },
      },
      machine,
    );
    expect((await testSaga(sign).run()).result).toEqual({ sign: 'Open.' });
  });

  it('serves workflow-async-function, one promise without an output', async () => {
    const machine = setup({
      types: { input: {} as { ship: string } },
      actors: {
        hail: work(
          did,
          ({ ship }: { ship: string }) => `hail ${ship}`,
          () => undefined,
        ),
      },
    }).createMachine({
      id: 'harbor',
      initial: 'Hail ship',
      context: ({ input }) => ({ ship: input.ship }),
      states: {
        'Hail ship': {
          invoke: {
            src: 'hail',
            input: ({ context }) => ({ ship: context.ship }),
            onDone: 'Ship hailed',
          },
        },
        'Ship hailed': { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'harbor',
        version: '1',
        input: z.object({ ship: z.string() }),
        result: ({ value, context }) => `${value}: ${context.ship}`,
      },
      machine,
    );
    const test = testSaga(saga, { input: { ship: 'Ada' }, providers });
    expect((await test.run()).result).toBe('Ship hailed: Ada');
    expect(did.standing).toEqual(['hail Ada']);
    await crashEverywhere(test, again);
  });

  it('serves workflow-greeting, whose promise gets the input of the machine by its first event', async () => {
    const machine = setup({
      types: {
        context: {} as { label: string | undefined },
        input: {} as { parcel: { to: string } },
      },
      actors: {
        print: fromPromise(async ({ input }: { input: { to: string } }) => ({
          label: `To ${input.to}`,
        })),
      },
    }).createMachine({
      context: { label: undefined },
      initial: 'Print',
      states: {
        Print: {
          invoke: {
            src: 'print',
            input: ({ event }) => ({
              to: (event as unknown as { input: { parcel: { to: string } } }).input.parcel.to,
            }),
            onDone: {
              target: 'Printed',
              actions: assign({ label: ({ event }) => event.output.label }),
            },
          },
        },
        Printed: { type: 'final', output: ({ context }) => ({ label: context.label }) },
      },
    });
    const saga = machineSaga(
      {
        name: 'label',
        version: '1',
        input: z.object({ parcel: z.object({ to: z.string() }) }),
        steps: { print: { reads: true } },
        output: z.object({ label: z.string() }),
        result: ({ output }) => output as { label: string },
      },
      machine,
    );
    const test = testSaga(saga, { input: { parcel: { to: 'Bo' } } });
    expect((await test.run()).result).toEqual({ label: 'To Bo' });
    await crashEverywhere(test, again);
  });

  it('serves workflow-math-problem, a promise that works on a list', async () => {
    const machine = setup({
      types: { context: {} as { sizes: string[] | undefined } },
      actors: {
        measure: fromPromise(async ({ input }: { input: { words: string[] } }) =>
          Promise.all(input.words.map(async (word) => ({ word, size: `${word.length}` }))),
        ),
      },
    }).createMachine({
      initial: 'Measure',
      context: { sizes: undefined },
      states: {
        Measure: {
          invoke: {
            src: 'measure',
            input: ({ event }) => ({
              words: (event as unknown as { input: { words: string[] } }).input.words,
            }),
            onDone: {
              target: 'Measured',
              actions: assign({ sizes: ({ event }) => event.output.map(({ size }) => size) }),
            },
          },
        },
        Measured: { type: 'final', output: ({ context }) => ({ sizes: context.sizes }) },
      },
    });
    const saga = machineSaga(
      {
        name: 'measure',
        version: '1',
        input: z.object({ words: z.array(z.string()) }),
        output: z.object({ sizes: z.array(z.string()) }),
        result: ({ output }) => output as { sizes: string[] },
      },
      machine,
    );
    const run = await testSaga(saga, { input: { words: ['oak', 'maple'] } }).run();
    expect(run.result).toEqual({ sizes: ['3', '5'] });
  });

  it('serves workflow-parallel, two regions with a promise each', async () => {
    const branch = (src: 'first' | 'second') =>
      ({
        initial: 'busy',
        states: { busy: { invoke: { src, onDone: 'over' } }, over: { type: 'final' } },
      }) as const;
    const machine = setup({
      actors: { first: act(did, 'wash'), second: act(did, 'dry') },
    }).createMachine({
      id: 'laundry',
      initial: 'Both',
      states: {
        Both: {
          type: 'parallel',
          states: { Short: branch('first'), Long: branch('second') },
          onDone: 'Folded',
        },
        Folded: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'laundry',
        version: '1',
        result: ({ value }) => stateOf(value),
      },
      machine,
    );
    const test = testSaga(saga, { providers });
    expect((await test.run()).result).toBe('Folded');
    expect(did.standing).toEqual(['wash', 'dry']);
    await crashEverywhere(test, again);
  });

  it('serves workflow-filling-water, a loop of a delay and a guard', async () => {
    const machine = createMachine({
      types: {} as {
        context: { shelf: { books: number; room: number } };
        input: { books: number; room: number };
      },
      initial: 'Look',
      context: ({ input }) => ({ shelf: input }),
      states: {
        Look: {
          always: [
            { target: 'Put', guard: ({ context: { shelf } }) => shelf.books < shelf.room },
            { target: 'Full' },
          ],
        },
        Put: {
          after: {
            500: {
              actions: assign({
                shelf: ({ context: { shelf } }) => ({ ...shelf, books: shelf.books + 1 }),
              }),
              target: 'Look',
            },
          },
        },
        Full: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'shelf',
        version: '1',
        input: z.object({ books: z.int(), room: z.int() }),
        result: ({ context }) => `${context.shelf.books} books`,
      },
      machine,
    );
    const run = await testSaga(saga, { input: { books: 0, room: 10 } }).run();
    expect(run.result).toBe('10 books');
  });

  it('serves workflow-provision-orders, with a branch for each message of an error', async () => {
    interface Booking {
      readonly room: string;
      readonly day: string;
      readonly guest: string;
    }
    const machine = setup({
      types: { context: {} as { booking: Booking }, input: {} as { booking: Booking } },
      actors: {
        check: fromPromise(async ({ input }: { input: { booking: Booking } }) => {
          for (const key of ['room', 'day', 'guest'] as const)
            if (input.booking[key] === '') throw new Error(`No ${key}`);
          return input;
        }),
        book: act(did, 'book'),
        askRoom: act(did, 'ask for the room'),
        askDay: act(did, 'ask for the day'),
        askGuest: act(did, 'ask for the guest'),
      },
    }).createMachine({
      id: 'booking',
      initial: 'Check',
      context: ({ input }) => ({ booking: input.booking }),
      states: {
        Check: {
          invoke: {
            src: 'check',
            input: ({ context }) => ({ booking: context.booking }),
            onDone: 'Book',
            onError: [
              {
                guard: ({ event }) => (event.error as Error).message === 'No room',
                target: 'Problem.Room',
              },
              {
                guard: ({ event }) => (event.error as Error).message === 'No day',
                target: 'Problem.Day',
              },
              {
                guard: ({ event }) => (event.error as Error).message === 'No guest',
                target: 'Problem.Guest',
              },
            ],
          },
        },
        Book: { invoke: { src: 'book', onDone: 'Over' } },
        Over: { type: 'final' },
        Problem: {
          initial: 'Room',
          states: {
            Room: { invoke: { src: 'askRoom', onDone: 'Told' } },
            Day: { invoke: { src: 'askDay', onDone: 'Told' } },
            Guest: { invoke: { src: 'askGuest', onDone: 'Told' } },
            Told: { type: 'final' },
          },
          onDone: 'Over',
        },
      },
    });
    const saga = machineSaga(
      {
        name: 'booking',
        version: '1',
        input: z.object({
          booking: z.object({ room: z.string(), day: z.string(), guest: z.string() }),
        }),
        steps: { check: { reads: true } },
        result: ({ value }) => stateOf(value),
      },
      machine,
    );
    const whole = { room: '4', day: 'May 1', guest: 'Cy' };
    for (const [missing, told] of [
      [{}, 'book'],
      [{ room: '' }, 'ask for the room'],
      [{ day: '' }, 'ask for the day'],
      [{ guest: '' }, 'ask for the guest'],
    ] as const) {
      const input = { booking: { ...whole, ...missing } };
      const test = testSaga(saga, { input, providers });
      expect((await test.run()).result).toBe('Over');
      expect(did.standing).toEqual([told]);
      await crashEverywhere(test, again);
    }
  });

  it('serves workflow-send-cloudevent, whose final state has what a promise returned', async () => {
    interface Seed {
      readonly id: string;
      readonly plant: string;
    }
    const machine = setup({
      types: {
        context: {} as { seeds: Seed[]; sown: { id: string; row: number }[] | undefined },
        input: {} as { seeds: Seed[] },
      },
      actors: {
        sow: work(
          did,
          ({ seeds }: { seeds: Seed[] }) => `sow ${seeds.map(({ plant }) => plant).join()}`,
          ({ seeds }) => seeds.map(({ id }, row) => ({ id, row })),
        ),
      },
    }).createMachine({
      id: 'garden',
      context: ({ input }) => ({ seeds: input.seeds, sown: undefined }),
      initial: 'Sow',
      states: {
        Sow: {
          invoke: {
            src: 'sow',
            input: ({ context }) => ({ seeds: context.seeds }),
            onDone: { actions: assign({ sown: ({ event }) => event.output }), target: 'Sown' },
          },
        },
        Sown: { type: 'final', output: ({ context }) => ({ sown: context.sown }) },
      },
    });
    const saga = machineSaga(
      {
        name: 'garden',
        version: '1',
        input: z.object({ seeds: z.array(z.object({ id: z.string(), plant: z.string() })) }),
        output: z.object({ sown: z.array(z.object({ id: z.string(), row: z.int() })) }),
        result: ({ output }) => output as { sown: { id: string; row: number }[] },
      },
      machine,
    );
    const seeds = [
      { id: 'a', plant: 'kale' },
      { id: 'b', plant: 'leek' },
    ];
    const test = testSaga(saga, { input: { seeds }, providers });
    expect((await test.run()).result).toEqual({
      sown: [
        { id: 'a', row: 0 },
        { id: 'b', row: 1 },
      ],
    });
    await crashEverywhere(test, again);
  });

  it('serves workflow-monitor-job, which looks again after a delay until a job is over', async () => {
    type Progress = 'baked' | 'burnt' | 'raw' | undefined;
    let looks: Progress[] = [];
    const machine = setup({
      types: {
        context: {} as { cake: { name: string }; oven: string | undefined; progress: Progress },
        input: {} as { cake: { name: string } },
      },
      actors: {
        bake: work(
          did,
          ({ name }: { name: string }) => `bake ${name}`,
          () => ({ oven: 'o1' }),
        ),
        look: fromPromise(async ({ input }: { input: { oven: string | undefined } }) => {
          expect(input.oven).toBe('o1');
          return { progress: looks.length > 1 ? looks.shift() : looks[0] };
        }),
        serve: act(did, 'serve'),
        apologize: act(did, 'apologize'),
      },
    }).createMachine({
      id: 'bakery',
      initial: 'Bake',
      context: ({ input }) => ({ cake: input.cake, oven: undefined, progress: undefined }),
      states: {
        Bake: {
          invoke: {
            src: 'bake',
            input: ({ context }) => ({ name: context.cake.name }),
            onDone: { target: 'Wait', actions: assign({ oven: ({ event }) => event.output.oven }) },
          },
        },
        Wait: { after: { 5_000: 'Look' } },
        Look: {
          invoke: {
            src: 'look',
            input: ({ context }) => ({ oven: context.oven }),
            onDone: {
              target: 'Decide',
              actions: assign({ progress: ({ event }) => event.output.progress }),
            },
          },
        },
        Decide: {
          always: [
            { guard: ({ context }) => context.progress === 'baked', target: 'Good' },
            { guard: ({ context }) => context.progress === 'burnt', target: 'Bad' },
            { target: 'Wait' },
          ],
        },
        Good: { invoke: { src: 'serve', onDone: 'Closed' } },
        Bad: { invoke: { src: 'apologize', onDone: 'Closed' } },
        Closed: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'bakery',
        version: '1',
        input: z.object({ cake: z.object({ name: z.string() }) }),
        steps: { look: { reads: true } },
        result: ({ context }) => `The cake is ${context.progress}.`,
      },
      machine,
    );
    const sees = (...seen: Progress[]) =>
      testSaga(saga, {
        input: { cake: { name: 'torte' } },
        providers,
        before: () => void (looks = [...seen]),
      });
    expect((await sees('raw', 'raw', 'baked').run()).result).toBe('The cake is baked.');
    expect(did.standing).toEqual(['bake torte', 'serve']);
    expect((await sees('raw', 'burnt').run()).result).toBe('The cake is burnt.');
    expect(did.standing).toEqual(['bake torte', 'apologize']);
    await crashEverywhere(sees('baked'), again);
  });

  it('serves workflow-credit-check, whose slow promise leads to a state without a way on', async () => {
    type Verdict = 'whole' | 'broken' | 'odd';
    const inspecting = (verdict: Verdict) => {
      const machine = setup({
        types: {
          context: {} as { vase: { id: string }; report: { verdict: Verdict } | null },
          input: {} as { vase: { id: string } },
        },
        actors: {
          inspect: fromPromise(async ({ input }: { input: { vase: { id: string } } }) => ({
            id: input.vase.id,
            verdict,
          })),
          sell: act<{ id: string }>(did, 'sell'),
          mend: act<{ id: string }>(did, 'mend'),
        },
        delays: { LONG: 15 * 60 * 1_000 },
      }).createMachine({
        id: 'vases',
        initial: 'Inspect',
        context: ({ input }) => ({ vase: input.vase, report: null }),
        states: {
          Inspect: {
            invoke: {
              src: 'inspect',
              input: ({ context }) => ({ vase: context.vase }),
              onDone: { target: 'Judge', actions: assign({ report: ({ event }) => event.output }) },
            },
            after: { LONG: 'Late' },
          },
          Judge: {
            always: [
              { guard: ({ context }) => context.report?.verdict === 'whole', target: 'Sell' },
              { guard: ({ context }) => context.report?.verdict === 'broken', target: 'Mend' },
              { target: 'Mend' },
            ],
          },
          Sell: {
            invoke: { src: 'sell', input: ({ context }) => context.vase, onDone: 'Over' },
          },
          Mend: {
            invoke: { src: 'mend', input: ({ context }) => context.vase, onDone: 'Over' },
          },
          Over: { type: 'final' },
          Late: {},
        },
      });
      return machineSaga(
        {
          name: 'vases',
          version: '1',
          input: z.object({ vase: z.object({ id: z.string() }) }),
          asks: { Late: 'end' },
          steps: { inspect: { reads: true } },
          result: ({ value, context }) => `${value}: ${context.report?.verdict ?? 'no report'}`,
        },
        machine,
      );
    };
    const options = { input: { vase: { id: 'v1' } }, providers };
    expect((await testSaga(inspecting('whole'), options).run()).result).toBe('Over: whole');
    expect(did.standing).toEqual(['sell']);
    expect((await testSaga(inspecting('odd'), options).run()).result).toBe('Over: odd');
    expect(did.standing).toEqual(['mend']);
    await crashEverywhere(testSaga(inspecting('whole'), options), again);
  });
});
