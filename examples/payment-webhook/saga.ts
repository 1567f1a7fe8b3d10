import { abort, pivot, saga, step, StepTimedOut, waitFor } from '@mcp-saga/server';
import { z } from 'zod';
import { provider, warehouse } from './world.ts';

const hour = 3_600_000;

/**
 * Reserves the goods, waits for the payment, and ships. Releases the goods if no payment arrives
 * within a day.
 */
export const order = saga(
  {
    name: 'order',
    version: '1',
    description: 'Orders goods, and ships them when they are paid',
    input: z.object({ order: z.string(), cents: z.int().positive() }),
  },
  function* ({ order: name, cents }) {
    yield* step(
      'reserve',
      ({ idempotencyKey, signal }) => warehouse.reserve(name, idempotencyKey, signal),
      {
        retry: 3,
        label: `the goods of ${name}`,
        compensate: ({ idempotencyKey, signal }) => warehouse.release(name, idempotencyKey, signal),
      },
    );
    try {
      yield* waitFor('payment', {
        // Other events, and payments of another amount, are ignored.
        schema: z.object({ type: z.literal('payment.paid'), cents: z.literal(cents) }),
        register: ({ url, idempotencyKey, signal }) =>
          provider.checkout({ order: name, cents, webhook: url }, idempotencyKey, signal),
        verify: 'provider',
        timeout: 24 * hour,
      });
    } catch (error) {
      if (!(error instanceof StepTimedOut)) throw error;
      yield* abort(`${name} was not paid within a day.`);
    }
    // From here on, a failed shipment is repeated and never undone: the customer has paid.
    yield* pivot('paid');
    const parcel = yield* step(
      'ship',
      ({ idempotencyKey, signal }) => warehouse.ship(name, idempotencyKey, signal),
      { retry: 10 },
    );
    return `${name} is paid, and shipped as ${parcel}.`;
  },
);
