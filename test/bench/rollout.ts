import { elicit, saga, step, type Json, type Program } from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga, step as stepInMachine } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import * as z from 'zod';

const Input = z.object({ service: z.string(), replicas: z.number().int() });
const Target = z.object({ target: z.string(), note: z.string() });
const Window = z.object({ from: z.string(), hours: z.number() });
const Sure = z.object({ sure: z.boolean() });

/** Input of both programs. */
export const input = { service: 'web-frontend', replicas: 3 };
/** Answers to the questions of both programs, by step ID. */
export const answers: { readonly [stepId: string]: Json } = {
  target: { target: 'production-eu', note: 'Please keep the old release around for a day.' },
  window: { from: '2026-12-01T22:00:00Z', hours: 2 },
  sure: { sure: true },
};
const slot = {
  slotId: 'slot_8f3a91c2',
  nodes: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
  cents: 7190,
};
const booking = { bookingId: 'bk_51d20e77', until: '2026-12-02T00:00:00Z' };
const where = 'Which target shall the service go to?';
const when = 'When may it restart?';
const whether = 'Start the rollout now?';

/** Asks, runs a step, asks, runs a step with an undo, and asks, as a generator. */
export function rolloutGenerator(): Program {
  return saga({ name: 'rollout', version: '1', input: Input, reuse: 'ok' }, function* (given) {
    const { target } = yield* elicit('target', { message: where, schema: Target });
    const found = yield* step('reserve', () => slot);
    const { from } = yield* elicit('window', { message: when, schema: Window });
    const { bookingId } = yield* step('book', () => booking, { compensate: () => undefined });
    yield* elicit('sure', { message: whether, schema: Sure });
    return `${given.service} goes to ${target} in ${found.slotId} at ${from}, as ${bookingId}.`;
  });
}

interface Context {
  readonly given: z.infer<typeof Input>;
  readonly target?: z.infer<typeof Target>;
  readonly slot?: typeof slot;
  readonly window?: z.infer<typeof Window>;
  readonly booking?: typeof booking;
}

const rollout = setup({
  types: {
    input: {} as z.infer<typeof Input>,
    context: {} as Context,
    output: {} as string,
  },
  actors: {
    askTarget: elicitInMachine({ message: where, schema: Target }),
    reserve: stepInMachine(() => slot),
    askWindow: elicitInMachine({ message: when, schema: Window }),
    book: stepInMachine(() => booking, { compensate: () => undefined }),
    askSure: elicitInMachine({ message: whether, schema: Sure }),
  },
}).createMachine({
  id: 'rollout',
  context: (made) => ({ given: made.input }),
  initial: 'targeting',
  states: {
    targeting: {
      invoke: {
        id: 'target',
        src: 'askTarget',
        onDone: {
          target: 'reserving',
          actions: assign({ target: ({ event }) => event.output }),
        },
      },
    },
    reserving: {
      invoke: {
        id: 'reserve',
        src: 'reserve',
        onDone: { target: 'timing', actions: assign({ slot: ({ event }) => event.output }) },
      },
    },
    timing: {
      invoke: {
        id: 'window',
        src: 'askWindow',
        onDone: { target: 'booking', actions: assign({ window: ({ event }) => event.output }) },
      },
    },
    booking: {
      invoke: {
        id: 'book',
        src: 'book',
        onDone: {
          target: 'confirming',
          actions: assign({ booking: ({ event }) => event.output }),
        },
      },
    },
    confirming: { invoke: { id: 'sure', src: 'askSure', onDone: 'started' } },
    started: { type: 'final' },
  },
  output: ({ context }) =>
    `${context.given.service} goes to ${context.target?.target} in ${context.slot?.slotId} at ` +
    `${context.window?.from}, as ${context.booking?.bookingId}.`,
});

/** The same as a machine. */
export function rolloutMachine(): Program {
  return machineSaga({ name: 'rollout', version: '1', input: Input, reuse: 'ok' }, rollout);
}
