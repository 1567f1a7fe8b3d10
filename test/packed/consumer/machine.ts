// #region xstate
import { elicit, machineSaga } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

const machine = setup({
  types: { context: {} as { sure: boolean }, output: {} as string },
  actors: { ask: elicit({ message: 'Erase it all?', schema: Sure }) },
}).createMachine({
  context: { sure: false },
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'sure',
        src: 'ask',
        onDone: { target: 'over', actions: assign(({ event }) => event.output) },
      },
    },
    over: { type: 'final' },
  },
  output: ({ context }) => (context.sure ? 'Erased.' : 'Kept.'),
});

export const eraseByMachine = machineSaga({ name: 'erase', version: '1' }, machine);
// #endregion xstate
