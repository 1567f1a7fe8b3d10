import { elicit, saga, SagaError, step, type Program } from '@mcp-saga/server';
import { z } from 'zod';

/** A bank that takes a hold, and is down after that. */
const bank = {
  hold: (_order: string): string => 'hold-1',
  release: (): never => {
    throw new SagaError('The bank is closed.', { code: 'bank_closed' });
  },
  pay: (): never => {
    throw new SagaError('The account has no money.', { code: 'no_money' });
  },
};

/** Refunds an order: the payment fails, and so does the undo of the hold. */
export const refund: Program = saga(
  { name: 'refund', version: '1', input: z.object({ order: z.string() }) },
  function* ({ order }) {
    yield* step('hold', () => bank.hold(order), { compensate: () => bank.release() });
    yield* elicit('sure', { message: `Refund order ${order}?`, schema: z.object({}) });
    yield* step('pay', () => bank.pay(), { retry: 2 });
    return 'Refunded.';
  },
);
