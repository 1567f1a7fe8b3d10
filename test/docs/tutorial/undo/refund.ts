import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { bank, books } from './bank.ts';

const Amount = z.object({ euros: z.int().min(1).max(5_000) });
const input = z.object({ order: z.string() });

// #region undo
export const refund = saga(
  { name: 'refund', version: '1', description: 'Refunds an order', input },
  function* ({ order }) {
    const { euros } = yield* elicit('amount', {
      message: `Refund how many euros for ${order}?`,
      schema: Amount,
    });
    yield* step('pay', ({ idempotencyKey }) => bank.pay(order, euros, idempotencyKey), {
      compensate: ({ stepKey }) => bank.takeBack(stepKey),
      unknown: 'compensate',
      timeout: '10s',
    });
    yield* step('enter', ({ idempotencyKey }) => books.enter(order, euros, idempotencyKey), {
      compensate: ({ stepKey }) => books.strike(stepKey),
      unknown: 'compensate',
      retry: 3,
    });
    return `Refunded ${euros} EUR for ${order}.`;
  },
);
// #endregion undo
