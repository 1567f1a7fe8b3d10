import { elicit, pivot, saga, step, type Steps } from '@mcp-saga/server';
import { z } from 'zod';
import { agency } from './agency.ts';

const Sure = z.object({ sure: z.boolean() });

/** Books one item. The undo cancels the booking. */
function* book(what: string, city: string): Steps<string> {
  return yield* step('book', ({ idempotencyKey }) => agency.book(what, city, idempotencyKey), {
    key: what,
    label: what,
    compensate: ({ idempotencyKey }) => agency.unbook(what, idempotencyKey),
  });
}

/**
 * Books a hotel, a flight, and a car, or nothing. Asks the user, and pays. The payment is final.
 */
export const bookTrip = saga(
  {
    name: 'book_trip',
    version: '1',
    description: 'Books a hotel, a flight and a car, asks whether that is right, and pays',
    input: z.object({ city: z.string() }),
    // An older token must not undo a paid trip, so the host needs a guard.
  },
  function* ({ city }) {
    for (const what of ['hotel', 'flight', 'car']) yield* book(what, city);
    const { sure } = yield* elicit('sure', {
      message: `Everything is booked in ${city}. Pay?`,
      schema: Sure,
    });
    if (!sure) throw new Error('The user is not sure');
    yield* step('pay', ({ idempotencyKey }) => agency.pay(city, idempotencyKey), { retry: 3 });
    yield* pivot('paid');
    yield* step('mail', ({ idempotencyKey }) => agency.mail(city, idempotencyKey), {
      retry: { attempts: 2, delay: 1 },
    });
    return `Have a good time in ${city}.`;
  },
);
