import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import * as z from 'zod';
import { shop } from './shop.ts';

const ask = elicit({ message: 'Ship it?', schema: z.object({}) });

const machine = setup({
  types: { output: {} as string },
  actors: {
    ask,
    charge: step(({ idempotencyKey }) => shop.charge(100, idempotencyKey), {
      compensate: ({ stepKey, idempotencyKey }) => shop.refund(stepKey, idempotencyKey),
      unknown: 'compensate',
    }),
    ship: step(({ idempotencyKey }) => shop.ship('', idempotencyKey), {
      compensate: ({ stepKey, idempotencyKey }) => shop.recall(stepKey, idempotencyKey),
      unknown: 'compensate',
    }),
  },
}).createMachine({
  id: 'order',
  initial: 'asking',
  states: {
    asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
    charging: { invoke: { id: 'charge', src: 'charge', onDone: 'shipping' } },
    shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'shipped' } },
    shipped: { type: 'final' },
  },
  output: 'On its way',
});

/**
 * Asks, then charges and ships in one turn; where that fails it ends in an error, and is undone.
 */
export const orderMachine = machineSaga({ name: 'order_machine', version: '1' }, machine);
