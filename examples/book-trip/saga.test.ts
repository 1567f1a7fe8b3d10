import {
  Provider,
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { bookTrip } from './saga.ts';
import { expectLogs } from '../../test/support/logs.ts';

const bookings = new Provider<string>();
const things = ['hotel', 'flight', 'car'];

// The agency remembers keys as long as the process runs. Each test run needs an empty provider.
const trip = things.reduce(
  (script, what) =>
    script.on
      .step(`book(${what})`, ({ idempotencyKey }) => bookings.do(idempotencyKey, what))
      .on.step(`~book(${what})`, ({ stepKey = '' }) => bookings.undo(stepKey)),
  testSaga(bookTrip, { input: { city: 'Rome' }, providers: [bookings] }).on.elicit('sure', {
    sure: true,
  }),
);

it('[E3] books everything, or nothing', async () => {
  expectLogs(/^paid for Rome$/, /^mailed the tickets for Rome$/);
  expect((await trip.run()).result).toBe('Have a good time in Rome.');
  expect(bookings.standing).toEqual(things);
  const run = await trip.fail.step('book(car)', new Error('no cars')).run();
  expect(run.compensated).toEqual(['book(flight)', 'book(hotel)']);
  expect(bookings.standing).toEqual([]);
});

it('[E3] leaves nothing booked after any failure or refusal', async () => {
  // People settle payments with the agency, and a missing mail does no harm.
  const harmless = ['pay', 'mail'];
  await failEverywhere(trip, { harmless });
  await refuseEverywhere(trip, { harmless });
});

it('[E1] books once after a crash at any point', async () => {
  await crashEverywhere(trip, { check: () => expect(bookings.standing).toEqual(things) });
});
