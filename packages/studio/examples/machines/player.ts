import { assign, setup } from 'xstate';

const player = setup({
  types: { context: {} as { track: number } },
  actions: { next: assign({ track: ({ context }) => context.track + 1 }) },
});

export const machine = player.createMachine({
  id: 'player',
  context: { track: 1 },
  initial: 'off',
  states: {
    off: { on: { POWER: 'on.resumed' } },
    on: {
      initial: 'stopped',
      on: { POWER: 'off' },
      states: {
        resumed: { type: 'history', target: 'stopped' },
        stopped: { on: { PLAY: 'playing' } },
        playing: {
          on: { STOP: 'stopped', PAUSE: 'paused', NEXT: { actions: 'next' } },
          after: { 180_000: { target: 'playing', actions: 'next', reenter: true } },
        },
        paused: { on: { PLAY: 'playing' } },
      },
    },
  },
});
