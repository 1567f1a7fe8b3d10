// #region machine
import type { StepContext } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { elicit, isDeclined, machineSaga, step } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { api } from './api.ts';

const Target = z.object({ target: z.enum(['staging', 'production']) });

export const machine = setup({
  types: { context: {} as { target: string }, output: {} as string },
  actors: {
    askTarget: elicit({ message: 'Where shall web go?', schema: Target }),
    release: step(({ input, idempotencyKey }: StepContext<string>) =>
      api.release('web', input, idempotencyKey),
    ),
  },
  guards: { isDeclined },
}).createMachine({
  id: 'deploy',
  context: { target: '' },
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'target', // the step's name on the wire
        src: 'askTarget',
        onDone: { target: 'releasing', actions: assign(({ event }) => event.output) },
        onError: { target: 'over', guard: 'isDeclined' },
      },
      after: { 3_600_000: 'over' },
    },
    releasing: {
      invoke: { src: 'release', input: ({ context }) => context.target, onDone: 'over' },
    },
    over: { type: 'final' },
  },
  output: ({ context: { target } }) => (target === '' ? 'Not now.' : `web is in ${target}.`),
});

const deploy = machineSaga({ name: 'deploy', version: '1' }, machine);

export default serveSagas({ name: 'deployer', version: '1.0.0', sagas: [deploy] });
// #endregion machine
