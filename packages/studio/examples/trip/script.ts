import { Provider, testSaga } from '@mcp-saga/testing';
import { bookTrip } from './saga.ts';

const bookings = new Provider<string>();

/** The agency of the saga is replaced by fakes, which forget everything before each run. */
export const script = ['hotel', 'flight', 'car'].reduce(
  (trip, what) =>
    trip.on
      .step(`book(${what})`, ({ idempotencyKey }) => bookings.do(idempotencyKey, what))
      .on.step(`~book(${what})`, ({ stepKey = '' }) => bookings.undo(stepKey)),
  testSaga(bookTrip, { input: { city: 'Rome' }, providers: [bookings] })
    .on.elicit('sure', { sure: true })
    .on.step('pay', 'paid')
    .on.step('mail', 'mailed'),
);

/** People settle a payment with an unknown outcome with the agency. */
export const harmless = ['pay', 'mail'];
