import { testSaga } from '@mcp-saga/testing';
import { checkouts, pay } from './webhooks.ts';

/** The bank reports the payment. In the playground, send the event of the bank. */
export const script = testSaga(pay, {
  input: { amount: 20 },
  before: () => {
    checkouts.length = 0;
  },
}).on.event('payment', { type: 'payment.paid', reference: 'P1' });

/** A checkout without a payment costs nothing. */
export const harmless = ['payment/register'];
