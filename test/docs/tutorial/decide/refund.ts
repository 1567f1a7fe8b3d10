import { elicit, poll, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { bank, books, desk } from './bank.ts';

const Amount = z.object({ euros: z.int().min(1).max(5_000) });
const input = z.object({ order: z.string() });
const minute = 60_000;

// #region decide
export const refund = saga(
  { name: 'refund', version: '1', description: 'Refunds an order', input },
  function* ({ order }) {
    const { euros } = yield* elicit('amount', {
      message: `Refund how many euros for ${order}?`,
      schema: Amount,
    });
    if (euros > 100) {
      yield* step('ask-manager', ({ idempotencyKey }) => desk.ask(order, euros, idempotencyKey));
      const decision = yield* poll('decision', () => desk.decision(order), {
        every: minute,
        timeout: 24 * 60 * minute,
        report: () => `A manager has to approve ${euros} EUR.`,
      });
      if (decision === 'no') return `A manager declined ${euros} EUR for ${order}.`;
    }
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
// #endregion decide
