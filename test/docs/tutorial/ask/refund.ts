// #region ask
import { elicit, saga } from '@mcp-saga/server';
import { z } from 'zod';

const Amount = z.object({ euros: z.int().min(1).max(5_000) });

export const refund = saga(
  {
    name: 'refund',
    version: '1',
    description: 'Refunds an order',
    input: z.object({ order: z.string() }),
  },
  function* ({ order }) {
    const { euros } = yield* elicit('amount', {
      message: `Refund how many euros for ${order}?`,
      schema: Amount,
    });
    return `Would refund ${euros} EUR for ${order}.`;
  },
);
// #endregion ask
