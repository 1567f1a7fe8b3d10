import { crashEverywhere, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { pay } from './webhooks.ts';

const hour = 3_600_000;

// #region test
const requested = testSaga(pay, { input: { amount: 20 } });
const event = { type: 'payment.paid', reference: 'r1' };
const paid = requested.on.event('payment', event, { after: hour });

it('returns the reference of the payment', async () => {
  const run = await paid.run();
  expect(run.result).toBe('Paid: r1');
});

it.each([
  ['an event that does not fit', requested.on.event('payment', { type: 'payment.created' })],
  ['a late event', paid.late.event('payment', 24 * hour)],
  ['silence', requested.silent.event('payment')],
])('fails after %s', async (_, script) => {
  const run = await script.run();
  expect(run.error).toMatchObject({ code: 'step_timed_out' });
});

it('pays once, wherever its process dies', async () => {
  // A repeated first request registers a second URL, which does no harm.
  await crashEverywhere(paid, { harmless: ['payment/register'] });
});

it('ends without an event', async () => {
  await refuseEverywhere(paid);
});
// #endregion test
