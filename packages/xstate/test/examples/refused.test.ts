/**
 * Example machines of XState that are not served as they are: callbacks, and a promise that reads the
 * terminal. Each is served with other actors. The shapes are theirs; names, texts, and data are not.
 */
import { AuthoringError } from '@mcp-saga/core/program';
import { crashEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { elicit, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromCallback, fromPromise, sendParent, setup } from 'xstate';
import { z } from 'zod';
import { chooseOrEnd, work } from '../support/example-shapes.ts';

const did = new Provider<string>();

/** A machine in place of a callback that sends an event at an interval. */
const everyTenMinutes = createMachine({
  initial: 'waiting',
  states: {
    waiting: {
      after: {
        600_000: { target: 'waiting', reenter: true, actions: sendParent({ type: 'beat' }) },
      },
    },
  },
});

describe('[R1] an example machine of XState with an actor that cannot be stored', () => {
  it('refuses stopwatch, whose callback sends ticks, and serves it with a machine that does', async () => {
    const machine = setup({
      types: { context: {} as { beats: number } },
      actors: {
        beats: fromCallback(({ sendBack }) => {
          sendBack({ type: 'beat' });
        }),
      },
    }).createMachine({
      id: 'watch',
      initial: 'off',
      context: { beats: 0 },
      states: {
        off: { on: { go: 'on' } },
        on: {
          invoke: { src: 'beats' },
          on: {
            beat: { actions: assign({ beats: ({ context }) => context.beats + 1 }) },
            halt: 'off',
          },
        },
      },
      on: { zero: { actions: assign({ beats: 0 }), target: '.off' } },
    });
    const options = {
      name: 'watch',
      version: '1',
      asks: { '(machine)': chooseOrEnd('go', 'halt', 'zero') },
      result: ({ context }: { context: { beats: number } }) => `${context.beats} beats`,
    } as const;
    const make = (served: typeof machine) => machineSaga(options as never, served as never);
    expect(() => make(machine)).toThrow(AuthoringError);
    expect(() => make(machine)).toThrow("'beats' is a callback or observable");
    const test = testSaga(make(machine.provide({ actors: { beats: everyTenMinutes as never } })))
      .on.elicit('(machine)', { event: 'go' })
      .on.elicit('(machine)@2', { event: 'halt' })
      .late.elicit('(machine)@2', 3_640_000)
      .on.elicit('(machine)@3', {});
    expect((await test.run()).result).toBe('6 beats');
    await crashEverywhere(test);
  });

  it('refuses workflow-check-inbox, whose callback is a timer, and serves it with a machine', async () => {
    interface Plant {
      readonly name: string;
      readonly soil: 'dry' | 'wet';
    }
    const machine = setup({
      types: { context: {} as { plants: Plant[] } },
      actors: {
        clock: fromCallback<{ type: string }, { interval: number }>(({ sendBack }) => {
          sendBack({ type: 'beat' });
        }),
        look: fromPromise(async (): Promise<Plant[]> => [
          { name: 'fern', soil: 'dry' },
          { name: 'moss', soil: 'wet' },
        ]),
        water: work(
          did,
          ({ plants }: { plants: Plant[] }) => `water ${plants.map(({ name }) => name).join()}`,
          () => ({ status: 'wet' }),
        ),
      },
    }).createMachine({
      id: 'plants',
      initial: 'Rest',
      context: { plants: [] },
      invoke: { src: 'clock', input: { interval: 600_000 } },
      states: {
        Rest: { on: { beat: 'Look' } },
        Look: {
          invoke: {
            src: 'look',
            onDone: { target: 'Water', actions: assign({ plants: ({ event }) => event.output }) },
          },
        },
        Water: {
          invoke: {
            src: 'water',
            input: ({ context }) => ({ plants: context.plants }),
            onDone: { target: 'Rest' },
          },
        },
      },
    });
    const options = {
      name: 'plants',
      version: '1',
      asks: {
        '(machine)': {
          ask: elicit({ message: 'Go on?', schema: z.object({ on: z.boolean() }) }),
          onAnswer: ({ answer, end }: { answer: { on: boolean }; end: () => void }) => {
            if (!answer.on) end();
          },
        },
      },
      steps: { look: { reads: true } },
      result: ({ value }: { value: unknown }) => String(value),
    } as const;
    const make = (served: typeof machine) => machineSaga(options as never, served as never);
    expect(() => make(machine)).toThrow(AuthoringError);
    expect(() => make(machine)).toThrow("'clock' is a callback or observable");
    const test = testSaga(make(machine.provide({ actors: { clock: everyTenMinutes as never } })), {
      providers: [did],
    })
      .on.elicit('(machine)', { on: true })
      .late.elicit('(machine)', 640_000)
      .on.elicit('(machine)@2', { on: true })
      .late.elicit('(machine)@2', 640_000)
      .on.elicit('(machine)@4', { on: false });
    expect((await test.run()).result).toBe('Rest');
    const both = ['water fern,moss', 'water fern,moss'];
    expect(did.standing).toEqual(both);
  });

  it('serves workflow-async-subflow with a question in place of the prompt of the terminal', async () => {
    const typed: string[] = [];
    const hello = setup({
      types: { context: {} as { pet: string | undefined } },
      actors: {
        prompt: fromPromise(async ({ input }: { input: { question: string } }) => {
          typed.push(input.question);
          return { response: 'typed at the server' };
        }),
      },
    }).createMachine({
      id: 'hello',
      initial: 'Name',
      context: { pet: undefined },
      states: {
        Name: {
          invoke: {
            src: 'prompt',
            input: { question: 'Your pet?' },
            onDone: {
              target: 'Greet',
              actions: assign({ pet: ({ event }) => event.output.response }),
            },
          },
        },
        Greet: {
          invoke: {
            src: 'prompt',
            input: ({ context }) => ({ question: `Feed ${context.pet}?` }),
            onDone: 'Fed',
          },
        },
        Fed: { type: 'final' },
      },
    });
    const pets = setup({ actors: { hello } }).createMachine({
      id: 'pets',
      initial: 'Meet',
      states: { Meet: { invoke: { src: 'hello', onDone: 'Met' } }, Met: { type: 'final' } },
    });
    const make = (served: typeof pets) =>
      machineSaga({ name: 'pets', version: '1', result: ({ value }) => value }, served);
    // As it is, the server answers by its own terminal, and asks no client.
    expect((await testSaga(make(pets)).run()).result).toBe('Met');
    expect(typed).toEqual(['Your pet?', 'Feed typed at the server?']);
    const prompt = elicit({
      message: ({ input }: { input: { question: string } }) => input.question,
      schema: z.object({ response: z.string() }),
    });
    const asking = hello.provide({ actors: { prompt: prompt as never } });
    const test = testSaga(make(pets.provide({ actors: { hello: asking } })))
      .on.elicit('0.pets.Meet/0.hello.Name', { response: 'Rex' })
      .on.elicit('0.pets.Meet/0.hello.Greet', { response: '' });
    expect((await test.run()).result).toBe('Met');
  });
});
