import { abort, approval, pivot, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { bank, outbox } from './world.ts';

const hour = 3_600_000;
const managers = ['ann@shop.example', 'bob@shop.example', 'cy@shop.example'];
const Comment = z.object({ comment: z.string().max(200).optional() });

/** Holds the money, asks three managers, and pays when two of them approve. */
export const refund = saga(
  {
    name: 'refund',
    version: '1',
    description: 'Refunds an order when two managers approve',
    input: z.object({ order: z.string(), cents: z.int().positive() }),
  },
  function* ({ order, cents }) {
    const euros = `${(cents / 100).toFixed(2)} EUR`;
    const { hold } = yield* step(
      'hold',
      ({ idempotencyKey, signal }) => bank.hold(cents, idempotencyKey, signal),
      {
        retry: 3,
        label: `the hold of ${euros}`,
        compensate: ({ result, idempotencyKey, signal }) =>
          bank.release(result.hold, idempotencyKey, signal),
      },
    );
    const decision = yield* approval('manager', {
      message: `Refund ${euros} for order ${order}?`,
      schema: Comment,
      to: managers,
      of: 2,
      denials: 2,
      link: 'accept',
      deliver: ({ url, to = '', isReminder, idempotencyKey, signal }) => {
        const text = `${isReminder ? 'Reminder: ' : ''}Refund ${euros}? ${url}`;
        return outbox.send({ to, text }, idempotencyKey, signal);
      },
      remindEvery: 4 * hour,
      timeout: 48 * hour,
    });
    if (!decision.approved)
      return yield* abort(`The refund of order ${order} was not approved: ${decision.reason}.`);
    // From here on, a failed payment is repeated and never undone.
    yield* pivot('approved');
    yield* step('pay', ({ idempotencyKey, signal }) => bank.pay(hold, idempotencyKey, signal), {
      retry: 10,
    });
    return `${euros} for order ${order} are refunded.`;
  },
);
