import { AuthoringError } from '@mcp-saga/core/program';
import { elicit, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';

const ask = elicit({ message: 'How many?', schema: z.object({ n: z.number() }) });

/** A machine whose final states are told by its only answer. */
const counting = (ends: object, root: object = {}): AnyStateMachine =>
  setup({ types: { context: {} as { n: number }, output: {} as string }, actors: { ask } })
    // The types of XState know no output of a state that a test passes in.
    .createMachine({
      id: 'counting',
      context: { n: 0 },
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            id: 'count',
            src: 'ask',
            onDone: [
              {
                guard: ({ event }: { event: { output: { n: number } } }) => event.output.n > 9,
                target: 'many',
                actions: assign({ n: ({ event }) => (event as never as Counted).output.n }),
              },
              { target: 'few' },
            ],
          },
        },
        ...ends,
      },
      ...root,
    } as never) as unknown as AnyStateMachine;

interface Counted {
  readonly output: { readonly n: number };
}

const options = { name: 'counting', version: '1', reuse: 'ok' } as const;

async function endOf(saga: ReturnType<typeof machineSaga>, n: number): Promise<unknown> {
  const run = new Drive(saga);
  await run.start();
  return await run.resume({ count: accept({ n }) });
}

describe('the result of a machine', () => {
  const ends = {
    many: {
      type: 'final',
      output: ({ context, event }: { context: { n: number }; event: { type: string } }) =>
        `${context.n} after ${event.type}`,
    },
    few: { type: 'final', output: 'few' },
  };

  it('is the output of the final state that it reached, if the root has none', async () => {
    const saga = machineSaga(options, counting(ends));
    expect(await endOf(saga, 10)).toMatchObject({ result: '10 after xstate.done.actor.count' });
    expect(await endOf(saga, 1)).toMatchObject({ result: 'few' });
  });

  it('is the output of the root, which may contain that of the final state', async () => {
    const output = ({ event }: { event: { output: string } }): string => `counted ${event.output}`;
    const saga = machineSaga(options, counting(ends, { output }));
    expect(await endOf(saga, 1)).toMatchObject({ result: 'counted few' });
  });

  it('is made by the option `result` from the last snapshot, for a machine as it is', async () => {
    const machine = counting({ many: { type: 'final' }, few: { type: 'final' } });
    const saga = machineSaga(
      { ...options, result: ({ context, value }) => `${String(value)}: ${context.n}` },
      machine,
    );
    expect(await endOf(saga, 12)).toMatchObject({ result: 'many: 12' });
    expect(await endOf(saga, 1)).toMatchObject({ result: 'few: 0' });
  });

  it('is made by the option `result` from the output of a final state, which XState drops', async () => {
    const result = ({ output }: { output: unknown }): string => `told: ${String(output)}`;
    const saga = machineSaga(
      { ...options, result },
      counting({ ...ends, many: { type: 'final' } }),
    );
    expect(await endOf(saga, 1)).toMatchObject({ result: 'told: few' });
    expect(await endOf(saga, 10)).toMatchObject({ result: 'told: undefined' });
  });

  it('is the reason of the client if the final state undoes the saga', async () => {
    const machine = counting({
      many: { type: 'final' },
      few: { type: 'final', tags: 'compensate' },
    });
    const saga = machineSaga({ ...options, result: ({ context }) => `only ${context.n}` }, machine);
    expect(failureOf((await endOf(saga, 1)) as never)).toMatchObject({
      error: { message: 'only 0' },
    });
  });

  it('ends the saga with an undo if the option `result` throws', async () => {
    const result = (): string => {
      throw new Error('no result');
    };
    const machine = counting({ many: { type: 'final' }, few: { type: 'final' } });
    const saga = machineSaga({ ...options, result }, machine);
    expect(failureOf((await endOf(saga, 1)) as never)).toMatchObject({
      error: { message: 'no result' },
    });
  });

  it('has to come from somewhere: a machine with a silent final state is refused at once', () => {
    const make = (machine: unknown, more: object = {}): unknown =>
      machineSaga({ ...options, ...more } as never, machine as never);
    const silent = counting({ ...ends, few: { type: 'final' } });
    expect(() => make(silent)).toThrow(AuthoringError);
    expect(() => make(silent)).toThrow("in 'few'");
    expect(() => make(silent, { result: () => 'x' })).not.toThrow();
    expect(() => make(silent, { result: 'x' })).toThrow(AuthoringError);
  });
});
