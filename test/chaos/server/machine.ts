import type { StepContext } from '@mcp-saga/server';
import { effect, elicitation, machineSaga, refused } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { labelOf } from '../provider/label.ts';
import { Count } from './sagas.ts';
import { ask, policy, undo } from './shop.ts';

const machine = setup({
  types: {
    input: {} as { readonly call: string },
    context: {} as { readonly purchase: string },
    output: {} as string,
  },
  actors: {
    // A machine does not know the id of its saga; the key of a step is as good a name.
    open: effect(({ idempotencyKey }) => `errand:${idempotencyKey}`),
    charge: effect(
      ({ input: purchase, idempotencyKey: key, signal }: StepContext<string>) =>
        ask('/effect', { key, purchase, kind: 'charge' }, signal),
      {
        ...policy,
        label: ({ input }) => labelOf('charge', input),
        compensate: ({ input, ...known }) => undo('charge', input, known),
        compensateUnknown: ({ input, ...unknown }) => undo('charge', input, unknown),
        undo: policy,
      },
    ),
    count: elicitation({
      message: ({ input: purchase }: { input: string }) => `How many for ${purchase}?`,
      schema: Count,
    }),
    ship: effect(
      ({ input: purchase, idempotencyKey: key, signal }: StepContext<string>) =>
        ask('/effect', { key, purchase, kind: 'ship' }, signal),
      {
        ...policy,
        label: ({ input }) => labelOf('ship', input),
        compensate: ({ input, ...known }) => undo('ship', input, known),
        compensateUnknown: ({ input, ...unknown }) => undo('ship', input, unknown),
        undo: policy,
      },
    ),
  },
  guards: { refused },
}).createMachine({
  id: 'errand',
  context: { purchase: '' },
  initial: 'opening',
  states: {
    opening: {
      invoke: {
        id: 'open',
        src: 'open',
        onDone: { target: 'charging', actions: assign({ purchase: ({ event }) => event.output }) },
      },
    },
    charging: {
      invoke: { id: 'charge', src: 'charge', input: ({ context }) => context.purchase, onDone: 'asking' },
    },
    asking: {
      invoke: {
        id: 'count',
        src: 'count',
        input: ({ context }) => context.purchase,
        onDone: 'shipping',
        onError: { target: 'over', guard: 'refused' },
      },
    },
    shipping: {
      invoke: { id: 'ship', src: 'ship', input: ({ context }) => context.purchase, onDone: 'done' },
    },
    done: { type: 'final' },
    over: { type: 'final', tags: ['compensate'] },
  },
  output: ({ context: { purchase } }) => `done ${purchase}`,
});

/** Charges, asks, ships, as a machine. */
export const errand = machineSaga(
  {
    name: 'errand',
    version: '1',
    input: z.object({ call: z.string() }),
    forks: 'refuse',
    commitFirst: true,
    task: 'prefer',
  },
  machine,
);
