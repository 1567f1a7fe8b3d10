import { compensator, elicit, saga, step, type Program } from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga, step as stepInMachine } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';

/** The arguments of all of them. */
export const input = z.object({ who: z.string() });
const Sure = z.object({ sure: z.boolean() });

/** What a later deploy has otherwise. */
export interface Changes {
  readonly holds?: string;
  readonly asks?: string;
  readonly pays?: string;
  readonly result?: string;
  readonly hello?: string;
  readonly onMismatch?: 'fail' | 'compensate';
}

/** Greets, holds a room, and asks: each step uses the results of earlier steps. */
export function bookOf(changes: Changes = {}): Program {
  const {
    holds = 'hold',
    asks = 'book',
    pays = 'pay',
    hello = 'Hello',
    onMismatch = 'fail',
  } = changes;
  return saga({ name: 'book', version: '1', input, onMismatch }, function* ({ who }) {
    yield* elicit('greet', { message: `${hello} ${who}?`, schema: z.object({}) });
    const held = yield* step(holds, () => ({ id: 'r-4711' }));
    const { sure } = yield* elicit(asks, { message: `Book ${held.id}?`, schema: Sure });
    if (held.id === '') throw new TypeError('no room');
    yield* step(pays, () => 'paid', { input: held.id });
    return changes.result ?? `${held.id} is booked: ${sure}`;
  });
}

/** Holds a room, and seals by which name it is given back. */
export function named(pays = 'pay'): Program {
  const giveBack = compensator('giveBack', z.object({ id: z.string() }), () => undefined);
  return saga({ name: 'book', version: '1', input, reuse: 'ok' }, function* () {
    const { id } = yield* step('hold', () => ({ id: 'r-4711' }), {
      compensate: giveBack.for(({ result }) => ({ id: result.id })),
    });
    return yield* step(pays, () => 'paid', { input: id });
  });
}

/** The same as a machine. */
export function machineOf({ pays = 'pay', asks = 'book', hello = 'Hello' }: Changes = {}): Program {
  const machine = setup({
    types: {
      input: {} as { who: string },
      context: {} as { who: string; room: string },
      output: {} as string,
    },
    actors: {
      greet: elicitInMachine({
        message: ({ input: given }: { input: { who: string } }) => `${hello} ${given.who}?`,
        schema: z.object({}),
      }),
      hold: stepInMachine(() => ({ id: 'r-4711' })),
      ask: elicitInMachine({
        message: ({ input: given }: { input: { room: string } }) => `Book ${given.room}?`,
        schema: Sure,
      }),
      pay: stepInMachine(({ input: given }: { input: { room: string } }) => given.room.length),
    },
  }).createMachine({
    context: ({ input: { who } }) => ({ who, room: '' }),
    initial: 'greeting',
    states: {
      greeting: {
        invoke: {
          id: 'greet',
          src: 'greet',
          input: ({ context: { who } }) => ({ who }),
          onDone: 'holding',
        },
      },
      holding: {
        invoke: {
          id: 'hold',
          src: 'hold',
          onDone: { target: 'asking', actions: assign({ room: ({ event }) => event.output.id }) },
        },
      },
      asking: {
        invoke: {
          id: asks,
          src: 'ask',
          input: ({ context: { room } }) => ({ room }),
          onDone: 'paying',
        },
      },
      paying: {
        invoke: {
          id: pays,
          src: 'pay',
          input: ({ context: { room } }) => ({ room }),
          onDone: 'over',
        },
      },
      over: { type: 'final' },
    },
    output: ({ context: { room } }) => `${room} is booked`,
  });
  return machineSaga({ name: 'rooms', version: '1', reuse: 'ok', input }, machine);
}
