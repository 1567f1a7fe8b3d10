import { elicit, saga, step, type Saga } from '@mcp-saga/server';
import { z } from 'zod';

const input = z.object({ room: z.string() });

/** Holds a room, and releases it if the user declines. */
export const book: Saga<typeof input, undefined> = saga(
  { name: 'book', version: '1', input },
  function* ({ room }) {
    yield* step('hold', () => room, {
      compensate: () => undefined,
      unknown: 'compensate',
    });
    const { sure } = yield* elicit('sure', {
      message: `Book ${room}?`,
      schema: z.object({ sure: z.boolean() }),
    });
    if (!sure) throw new Error('not sure');
    return `${room} is booked`;
  },
);
