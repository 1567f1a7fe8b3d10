import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { bank } from './bank.ts';

const Amount = z.object({ euros: z.int().min(1).max(5_000) });
const input = z.object({ order: z.string() });

export const refund = saga(
  { name: 'refund', version: '1', description: 'Refunds an order', input },
  function* ({ order }) {
    const { euros } = yield* elicit('amount', {
      message: `Refund how many euros for ${order}?`,
      schema: Amount,
    });
    // #region careless
    yield* step('pay', () => bank.pay(order, euros, crypto.randomUUID()));
    // #endregion careless
    return `Refunded ${euros} EUR for ${order}.`;
  },
);
