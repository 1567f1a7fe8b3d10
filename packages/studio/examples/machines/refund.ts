import { elicit, isDeclined, machineSaga, step } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import { z } from 'zod';

const machine = setup({
  actors: {
    confirm: elicit({ message: 'Refund 900 EUR?', schema: z.object({ sure: z.boolean() }) }),
    payBack: step(({ idempotencyKey }) => idempotencyKey, { compensate: () => undefined }),
    notify: step(({ idempotencyKey }) => idempotencyKey),
  },
}).createMachine({
  id: 'refund',
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'confirm',
        src: 'confirm',
        onDone: [{ guard: ({ event }) => event.output.sure, target: 'paying' }, { target: 'kept' }],
        onError: [{ guard: isDeclined, target: 'kept' }, { target: 'failed' }],
      },
    },
    paying: { invoke: { id: 'payBack', src: 'payBack', onDone: 'telling', onError: 'failed' } },
    telling: { invoke: { id: 'notify', src: 'notify', onDone: 'refunded', onError: 'failed' } },
    refunded: { type: 'final' },
    kept: { type: 'final' },
    failed: { type: 'final', tags: 'compensate' },
  },
  output: 'Done.',
});

export const refund = machineSaga({ name: 'refund', version: '1', reuse: 'ok' }, machine);
