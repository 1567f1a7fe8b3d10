import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { bank, books } from './bank.ts';

const Amount = z.object({ euros: z.int().min(1).max(5_000) });
const about = { name: 'refund', version: '1', input: z.object({ order: z.string() }) };

// #region saga
export const refund = saga(about, function* ({ order }) {
  const { euros } = yield* elicit('amount', {
    message: `Refund how many euros for ${order}?`,
    schema: Amount,
  });
  yield* step('pay', (call) => bank.pay(order, euros, call), {
    compensate: (call) => bank.takeBack(call),
    unknown: 'compensate',
  });
  yield* step('enter', (call) => books.add(order, euros, call), {
    compensate: (call) => books.strike(call),
    unknown: 'compensate',
  });
  return `Refunded ${euros} EUR for ${order}.`;
});
// #endregion saga
