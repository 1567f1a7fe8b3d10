import type { StepContext } from '@mcp-saga/server';
import { elicit, isRefused, machineSaga, step, type StepLogic } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { labelOf } from '../provider/label.ts';
import type { Kind } from '../provider/ledger.ts';
import { Count } from './sagas.ts';
import { ask, policy, undo } from './shop.ts';

/** Step that runs an effect at the provider with its idempotency key, and can be undone. */
const orderAs = (kind: Kind): StepLogic<{ readonly id: string }, string> =>
  step(
    ({ input: purchase, idempotencyKey: key, signal }: StepContext<string>) =>
      ask('/effect', { key, purchase, kind }, signal),
    {
      ...policy,
      label: ({ input }) => labelOf(kind, input),
      compensate: ({ input, ...unwanted }) => undo(kind, input, unwanted),
      unknown: 'compensate',
      undo: policy,
    },
  );

const machine = setup({
  types: {
    input: {} as { readonly call: string },
    context: {} as { readonly purchase: string },
    output: {} as string,
  },
  actors: {
    // A machine does not know its saga ID, so the purchase is named after the key of a step.
    open: step(({ idempotencyKey }) => `errand:${idempotencyKey}`),
    charge: orderAs('charge'),
    count: elicit({
      message: ({ input: purchase }: { input: string }) => `How many for ${purchase}?`,
      schema: Count,
    }),
    ship: orderAs('ship'),
    drive: orderAs('car'),
  },
  guards: { isRefused },
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
      invoke: {
        id: 'charge',
        src: 'charge',
        input: ({ context }) => context.purchase,
        onDone: 'asking',
      },
    },
    asking: {
      invoke: {
        id: 'count',
        src: 'count',
        input: ({ context }) => context.purchase,
        onDone: 'shipping',
        onError: { target: 'over', guard: 'isRefused' },
      },
    },
    shipping: {
      invoke: { id: 'ship', src: 'ship', input: ({ context }) => context.purchase, onDone: 'done' },
      // If the shipment takes too long, a car delivers instead.
      after: { 250: 'driving' },
    },
    driving: {
      invoke: {
        id: 'drive',
        src: 'drive',
        input: ({ context }) => context.purchase,
        onDone: 'done',
      },
    },
    done: { type: 'final' },
    over: { type: 'final', tags: ['compensate'] },
  },
  output: ({ context: { purchase } }) => `done ${purchase}`,
});

/** Machine that charges, asks, and ships or drives. */
export const errand = machineSaga(
  {
    name: 'errand',
    version: '1',
    input: z.object({ call: z.string() }),
    task: 'prefer',
  },
  machine,
);
