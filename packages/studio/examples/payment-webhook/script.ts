import { testSaga } from '@mcp-saga/testing';
import { order } from './saga.ts';
import { parcels, reservations } from './world.ts';

/** The customer pays. In the playground, send the event of the payment provider. */
export const script = testSaga(order, {
  input: { order: 'A7', cents: 2_000 },
  providers: [reservations, parcels],
}).on.event('payment', { type: 'payment.paid', cents: 2_000 });

/** A checkout without a payment costs nothing. */
export const harmless = ['payment/register'];
