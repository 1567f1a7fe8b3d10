import { compensator, type Program } from '@mcp-saga/server';
import { elicit, machineSaga, sample, step } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import * as z from 'zod';

/** Effects in order. */
export const acts: string[] = [];

/** Running effects wait here until a test continues them, by name. */
export const waiting = new Map<string, () => void>();

const until = (name: string): Promise<string> =>
  new Promise((resolve) => {
    acts.push(name);
    waiting.set(name, () => resolve(name));
  });

export const cancelOrder = compensator(
  'cancelOrder',
  z.object({ order: z.string() }),
  ({ args }) => {
    acts.push(`cancel ${args.order}`);
  },
);

/**
 * Searches two places at once, asks for the payer and for a text of the model, books once, and
 * reports the first result.
 */
const machine = setup({
  types: { context: {} as { first: string; payer: string; text: string }, output: {} as string },
  actors: {
    left: step(() => until('left')),
    right: step(() => until('right')),
    payer: elicit({
      message: 'Who pays?',
      schema: z.object({ name: z.string() }),
      answeredBy: ['fallback', 'client'],
      fallback: () => {
        acts.push('fallback');
        return { name: 'the house' };
      },
    }),
    text: sample({
      messages: [{ role: 'user', content: { type: 'text', text: 'A line, please' } }],
      maxTokens: 9,
      answeredBy: ['fallback'],
      parse: ({ content }) => (content.type === 'text' ? content.text : ''),
    }),
    book: step(
      () => {
        acts.push('book');
        return { order: 'o1' };
      },
      { once: true, compensate: cancelOrder.for(({ result }) => ({ order: result.order })) },
    ),
    agree: elicit({
      message: 'Agreed?',
      schema: z.object({ yes: z.boolean() }),
      answeredBy: ['client'],
    }),
  },
  guards: { yes: ({ event }) => (event as { output?: { yes: boolean } }).output?.yes === true },
  actions: {
    comes: assign({
      first: ({ context, event }) =>
        context.first || (event as unknown as { output: string }).output,
    }),
  },
}).createMachine({
  id: 'desk',
  context: { first: '', payer: '', text: '' },
  initial: 'looking',
  states: {
    looking: {
      type: 'parallel',
      states: {
        left: {
          initial: 'runs',
          states: {
            runs: {
              invoke: { id: 'left', src: 'left', onDone: { target: 'over', actions: 'comes' } },
            },
            over: { type: 'final' },
          },
        },
        right: {
          initial: 'runs',
          states: {
            runs: {
              invoke: { id: 'right', src: 'right', onDone: { target: 'over', actions: 'comes' } },
            },
            over: { type: 'final' },
          },
        },
      },
      onDone: 'paying',
    },
    paying: {
      invoke: {
        id: 'payer',
        src: 'payer',
        onDone: { target: 'writing', actions: assign({ payer: ({ event }) => event.output.name }) },
      },
    },
    writing: {
      invoke: {
        id: 'text',
        src: 'text',
        onDone: { target: 'booking', actions: assign({ text: ({ event }) => event.output }) },
      },
    },
    booking: { invoke: { id: 'book', src: 'book', onDone: 'agreeing' } },
    agreeing: {
      invoke: {
        id: 'agree',
        src: 'agree',
        onDone: [{ guard: 'yes', target: 'over' }, { target: 'back' }],
      },
      after: { 60_000: 'back' },
    },
    over: { type: 'final' },
    back: { type: 'final', tags: 'compensate' },
  },
  output: ({ context: { first, payer, text } }) => `${first} ${payer} ${text}`,
});

export const desk: Program = machineSaga({ name: 'desk', version: '1', reuse: 'ok' }, machine);
