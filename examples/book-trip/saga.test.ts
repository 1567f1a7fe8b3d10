import { Provider, crashEverywhere, failEverywhere, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { bookTrip } from './saga.ts';

const bookings = new Provider<string>();
const things = ['hotel', 'flight', 'car'];

// Its own agency remembers every key for as long as the server runs: a run of its own needs one that forgets.
const trip = things.reduce(
  (script, what) =>
    script.on
      .step(`book(${what})`, ({ idempotencyKey }) => bookings.do(idempotencyKey, what))
      .on.step(`~book(${what})`, ({ stepKey = '' }) => bookings.undo(stepKey)),
  testSaga(bookTrip, { input: { city: 'Rome' }, providers: [bookings] }).on.elicit('sure', {
    sure: true,
  }),
);

it('[E3] books all of it, or nothing', async () => {
  expect((await trip.run()).result).toBe('Have a good time in Rome.');
  expect(bookings.standing).toEqual(things);
  const run = await trip.fail.step('book(car)', new Error('no cars')).run();
  expect(run.compensated).toEqual(['book(flight)', 'book(hotel)']);
  expect(bookings.standing).toEqual([]);
});

it('[E3] leaves nothing booked, whatever fails and whoever says no', async () => {
  // What was paid, or may have been, people settle with the agency; the mail is a courtesy.
  const harmless = ['pay', 'mail'];
  await failEverywhere(trip, { harmless });
  await refuseEverywhere(trip, { harmless });
});

it('[E1] books once, wherever its process dies', async () => {
  await crashEverywhere(trip, { check: () => expect(bookings.standing).toEqual(things) });
});
