import type { Program } from '@mcp-saga/core';
import type { StepCall } from '@mcp-saga/core/program';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { assign, fromPromise, setup } from 'xstate';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { Drive } from './support/drive.ts';

/** The code that really ran. */
const ran: string[] = [];

const look = fromPromise(({ input: { at } }: { input: { at: string } }) => {
  ran.push(`look ${at}`);
  return Promise.resolve(at);
});

const inner = setup({ actors: { look } }).createMachine({
  initial: 'looks',
  states: {
    looks: { invoke: { id: 'look', src: 'look', input: { at: 'inside' }, onDone: 'over' } },
    over: { type: 'final' },
  },
});

const program: Program = machineSaga(
  { name: 'all', version: '1', reuse: 'ok' },
  setup({
    types: { context: {} as { seen: string[] }, output: {} as string },
    actors: {
      look,
      inner,
      pack: step(({ input }: { input: Date }) => void ran.push(`pack ${input.getTime()}`), {
        compensate: () => void ran.push('unpack'),
      }),
      who: elicit({
        message: 'Who?',
        schema: z.object({ name: z.string() }),
        fallback: ({ attempt }) => {
          ran.push(`fall back ${attempt}`);
          return { name: 'nobody' };
        },
      }),
    },
  }).createMachine({
    context: { seen: [] },
    initial: 'looks',
    states: {
      looks: {
        invoke: {
          id: 'look',
          src: 'look',
          input: { at: 'here' },
          onDone: {
            target: 'within',
            actions: assign({ seen: ({ context, event }) => [...context.seen, event.output] }),
          },
        },
      },
      within: { invoke: { id: 'inner', src: 'inner', onDone: 'packs' } },
      packs: { invoke: { id: 'pack', src: 'pack', input: new Date(7), onDone: 'asks' } },
      asks: {
        invoke: {
          id: 'who',
          src: 'who',
          onDone: {
            target: 'over',
            actions: assign({ seen: ({ context, event }) => [...context.seen, event.output.name] }),
          },
        },
      },
      over: { type: 'final', tags: 'compensate' },
    },
    output: ({ context }) => context.seen.join(),
  }),
);

const route = (): 'fallback' => 'fallback';

it('passes all code of a machine, with its arguments, to a runtime that runs it', async () => {
  ran.length = 0;
  const calls: StepCall[] = [];
  const perform = (call: StepCall): unknown => {
    calls.push(call);
    return call.kind === 'fallback' ? { name: 'somebody' } : 'there';
  };
  const outcome = await new Drive(program).start({}, { replace: { route, perform } });
  expect(outcome).toMatchObject({ status: 'failed', error: { message: 'there,somebody' } });
  expect(ran).toEqual([]);
  expect(
    calls.map(({ kind, path, undoes, step: { input } }) => [kind, path, undoes, input]),
  ).toEqual([
    ['step', 'look', undefined, { at: 'here' }],
    ['step', 'inner/look', undefined, { at: 'inside' }],
    ['step', 'pack', undefined, new Date(7)],
    ['fallback', 'who', undefined, undefined],
    ['step', '~pack', 'pack', undefined],
  ]);
});

it.each([
  ['by itself', {}],
  ['by a runtime that only looks on', { perform: ({ run, step: given }: StepCall) => run(given) }],
])('runs the code of a machine %s', async (_, replace) => {
  ran.length = 0;
  const outcome = await new Drive(program).start({}, { replace: { route, ...replace } });
  expect(outcome).toMatchObject({ status: 'failed', error: { message: 'here,nobody' } });
  expect(ran).toEqual(['look here', 'look inside', 'pack 7', 'fall back 1', 'unpack']);
});
