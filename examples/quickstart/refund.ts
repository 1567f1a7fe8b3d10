import { elicit, sample, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

/** Looks up an order, asks the user how much goes back, asks the client's model, and refunds. */
export const refund = saga(
  {
    name: 'refund',
    version: '1',
    description: 'Refunds an order after a person and a model agree',
    input: z.object({ order: z.string() }),
    // If the client does not support sampling, the model that calls the tool answers.
    answeredBy: ['client', 'model', 'fallback'],
  },
  function* ({ order }) {
    const { customer, paid } = yield* step('find-order', () => ({ customer: 'Ada', paid: 20 }), {
      reads: true,
    });
    const { amount } = yield* elicit('amount', {
      message: `${customer} paid ${paid} EUR for order ${order}. How much goes back?`,
      schema: z.object({ amount: z.number().min(1).max(paid) }),
    });
    const verdict = yield* sample('review', {
      messages: [
        {
          role: 'user',
          content: {
            type: 'text',
            text: `Order ${order} arrived a week late. Is a refund of ${amount} of ${paid} EUR fair?`,
          },
        },
      ],
      maxTokens: 100,
    });
    if (verdict.content.type !== 'text' || !/\byes\b/i.test(verdict.content.text)) {
      return `Nothing refunded to ${customer}: the model did not say yes.`;
    }
    const { payout } = yield* step('refund', ({ idempotencyKey }) => ({
      // A bank that gets this key twice pays once.
      payout: idempotencyKey.slice(0, 8),
    }));
    yield* step('book', ({ idempotencyKey }) => ({ entry: idempotencyKey.slice(0, 8), payout }));
    return `Refunded ${amount} EUR of order ${order} to ${customer}.`;
  },
);
