import { abort, elicit, pivot, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { bank, shop } from './shop.ts';

const Sure = z.object({ sure: z.boolean() });

// #region undo
export const buy = saga({ name: 'buy', version: '1' }, function* () {
  const payment = yield* step('charge', ({ idempotencyKey }) => bank.charge(9, idempotencyKey), {
    compensate: ({ outcome, result, stepKey, idempotencyKey }) =>
      outcome === 'done'
        ? bank.refund(result.id, idempotencyKey)
        : // The call timed out, or its response was lost: the money may have moved.
          bank.refundIfCharged(stepKey, idempotencyKey),
    unknown: 'compensate',
    timeout: '10s',
    retry: 3,
  });
  const { sure } = yield* elicit('sure', { message: 'Ship it?', schema: Sure });
  if (!sure) yield* abort('You were not sure.'); // undoes the charge, as an uncaught refusal does
  yield* step('ship', ({ idempotencyKey }) => shop.ship(payment.id, idempotencyKey));
  yield* pivot('shipped'); // the point of no return: nothing before it is undone
  yield* step('thank', () => shop.mail('Thank you'));
  return 'On its way';
});
// #endregion undo
