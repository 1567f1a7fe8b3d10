import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { refund } from './refund.ts';

const refunded = testSaga(refund, { input: { order: '1042' } })
  .on.elicit('amount', { amount: 15 })
  .on.sample('review', 'Yes, it came late');

it('refunds only if both the user and the model agree', async () => {
  const run = await refunded.run();
  expect(run.result).toBe('Refunded 15 EUR of order 1042 to Ada.');
  const other = await refunded.on.sample('review', 'Better not').run();
  expect(other.result).toContain('Nothing refunded to Ada');
  expect(other.effects.map(({ id }) => id)).not.toContain('refund');
});

it('[E1] refunds once after a crash at any point', async () => {
  await crashEverywhere(refunded);
});

it('refunds by the same steps on every machine, for each refusal and failure', async () => {
  await assertDeterministic(refunded);
  await refuseEverywhere(refunded);
  // A payout that may have happened is looked after by people.
  await failEverywhere(refunded, { harmless: ['refund', 'book'] });
});
