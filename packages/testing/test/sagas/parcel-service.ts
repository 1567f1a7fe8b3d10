import { elicit, saga, sample, sleep, step, type Program } from '@mcp-saga/server';
import { z } from 'zod';
import { shop } from './shop.ts';

const Sure = z.object({ sure: z.boolean() });

/**
 * A saga that does everything a wire has to carry: runs, asks a user, asks a model, waits, and runs
 * again.
 */
export const parcelService: Program = saga(
  {
    name: 'parcel_service',
    version: '1',
    input: z.object({ cents: z.number() }),
    task: 'prefer',
  },
  function* ({ cents }) {
    const payment = yield* step(
      'charge',
      ({ idempotencyKey }) => shop.charge(cents, idempotencyKey),
      {
        compensate: ({ result, idempotencyKey }) => shop.refund(result.id, idempotencyKey),
      },
    );
    yield* elicit('sure', { message: `Ship it for ${cents}?`, schema: Sure });
    yield* sleep(5_000);
    const word = yield* sample('word', {
      messages: [{ role: 'user', content: { type: 'text', text: 'A word to the customer?' } }],
      maxTokens: 10,
    });
    yield* step('ship', ({ idempotencyKey }) => shop.ship(payment.id, idempotencyKey));
    return word.content.type === 'text' ? word.content.text : 'On its way';
  },
);
