import {
  createSagaHost,
  memoryStore,
  saga,
  standardWebhook,
  waitFor,
  type SagaHost,
} from '@mcp-saga/server';
import { z } from 'zod';

/** Checkouts that were created. */
export const checkouts: { readonly webhook: string; readonly key: string }[] = [];
const bank = {
  checkout: async (amount: number, webhook: string, key: string): Promise<void> =>
    void (amount > 0 && checkouts.push({ webhook, key })),
};

const day = 86_400_000;

// #region tool
const Paid = z.object({ type: z.literal('payment.paid'), reference: z.string() });

export const pay = saga(
  {
    name: 'pay',
    version: '1',
    input: z.object({ amount: z.number() }),
    task: 'prefer',
  },
  function* ({ amount }) {
    const payment = yield* waitFor('payment', {
      schema: Paid,
      register: ({ url, idempotencyKey }) => bank.checkout(amount, url, idempotencyKey),
      verify: 'bank', // a check of the host
      timeout: day,
    });
    return `Paid: ${payment.reference}`;
  },
);
// #endregion tool

// #region host
export const hostOf = (secret: string): SagaHost =>
  createSagaHost({
    sagas: [pay],
    name: 'shop',
    keys: 'ephemeral',
    store: memoryStore(),
    url: 'https://shop.example',
    webhooks: {
      bank: standardWebhook(secret),
      other: (request) => request.headers.get('authorization') === `Bearer ${secret}`,
    },
  });
// #endregion host
