import { abort, saga, SagaError, step, StepError } from '@mcp-saga/server';
import { z } from 'zod';

/** Statuses that the bank answers with, in order; after the last, it accepts the payment. */
export const statuses: number[] = [];
/** Requests to the bank: the idempotency key of each. */
export const requests: string[] = [];
const bank = {
  pay: async (_euros: number, key: string, signal: AbortSignal): Promise<{ status: number }> => {
    requests.push(key);
    signal.throwIfAborted();
    return { status: statuses.shift() ?? 200 };
  },
  refund: async (key: string): Promise<void> => void requests.push(`refund of ${key}`),
};

const Amount = z.object({ euros: z.number() });

// #region pay
class CardRefused extends SagaError {
  constructor() {
    super('The card was refused.', { code: 'card_refused' });
  }
}

export const pay = saga({ name: 'pay', version: '1', input: Amount }, function* ({ euros }) {
  try {
    yield* step(
      'pay',
      async ({ idempotencyKey, signal }) => {
        const { status } = await bank.pay(euros, idempotencyKey, signal);
        if (status === 402) throw new CardRefused();
        if (status !== 200) throw new Error(`The bank answered ${status}.`);
      },
      {
        timeout: '10s',
        retry: { attempts: 3, delay: '1s', when: (error) => !(error instanceof CardRefused) },
        compensate: ({ stepKey }) => bank.refund(stepKey),
        unknown: 'compensate',
      },
    );
  } catch (error) {
    const isRefused = error instanceof StepError && error.code === 'card_refused';
    if (!isRefused) throw error;
    return yield* abort('Use another card.'); // an earlier attempt may have paid
  }
  return `Paid ${euros} EUR.`;
});
// #endregion pay
