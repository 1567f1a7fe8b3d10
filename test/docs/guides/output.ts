import { elicit, saga } from '@mcp-saga/server';
import { z } from 'zod';

// #region output
const Room = z.object({ room: z.enum(['small', 'large']) });
const Booking = z.object({ room: z.string(), seats: z.int() });

export const bookRoom = saga(
  { name: 'book_room', version: '1', description: 'Books a room', output: Booking },
  function* () {
    const { room } = yield* elicit('room', { message: 'Which room?', schema: Room });
    return { room, seats: room === 'small' ? 4 : 12 };
  },
);
// #endregion output
