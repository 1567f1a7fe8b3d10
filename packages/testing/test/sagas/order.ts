import { elicit, pivot, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { shop } from './shop.ts';

const Sure = z.object({ sure: z.boolean() });

/** Charges, asks, ships; a charge is refunded when the order does not come about. */
export const order = saga(
  {
    name: 'order',
    version: '1',
    input: z.object({ cents: z.number().int().positive() }),
  },
  function* ({ cents }) {
    const payment = yield* step(
      'charge',
      ({ idempotencyKey }) => shop.charge(cents, idempotencyKey),
      {
        compensate: ({ outcome, result, stepKey, idempotencyKey }) =>
          shop.refund(outcome === 'done' ? result.id : stepKey, idempotencyKey),
        unknown: 'compensate',
        timeout: 10_000,
        retry: { attempts: 3, delay: 100, jitter: false },
      },
    );
    const { sure } = yield* elicit('sure', { message: 'Ship it?', schema: Sure });
    if (!sure) throw new Error('not sure');
    yield* step('ship', ({ idempotencyKey }) => shop.ship(payment.id, idempotencyKey), {
      compensate: ({ stepKey, idempotencyKey }) => shop.recall(stepKey, idempotencyKey),
      unknown: 'compensate',
    });
    yield* pivot('shipped');
    yield* step('thank', ({ idempotencyKey }) => shop.mail('Thank you', idempotencyKey));
    return 'On its way';
  },
);
