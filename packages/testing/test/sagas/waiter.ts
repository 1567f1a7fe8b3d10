import type { Program } from '@mcp-saga/server';
import { machineSaga, step } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';

/** Waits, then looks something up, for which there is not much time. */
export function waiterOf(before: number, most: number): Program {
  return machineSaga(
    { name: 'waiter', version: '1' },
    setup({
      types: { context: {} as { found: string }, output: {} as string },
      actors: { look: step(() => 'found') },
    }).createMachine({
      initial: 'waits',
      context: { found: 'nothing' },
      states: {
        waits: { after: { [before]: 'looks' } },
        looks: {
          invoke: {
            id: 'look',
            src: 'look',
            onDone: { target: 'over', actions: assign({ found: ({ event }) => event.output }) },
          },
          after: { [most]: 'over' },
        },
        over: { type: 'final' },
      },
      output: ({ context }) => context.found,
    }) as never,
  );
}
