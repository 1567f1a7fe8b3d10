import { crashEverywhere, failEverywhere, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { entries, payments } from './bank.ts';
import { refund } from './refund.ts';

const options = { input: { order: 'A7' }, providers: [payments, entries] };
const script = testSaga(refund, options).on.elicit('amount', { euros: 20 });

it('pays once, wherever the process dies', async () => {
  await crashEverywhere(script, { check: () => expect(payments.standing).toHaveLength(1) });
});

it('takes the payment back if a later step fails', async () => {
  const run = await script.fail.step('enter', new Error('The books are closed.')).run();
  expect(run.compensated).toEqual(['pay']);
  expect(payments.standing).toEqual([]);
});

it('leaves a payment with its entry, or neither, after any failure', async () => {
  const check = () => expect(entries.standing).toEqual(payments.standing);
  await failEverywhere(script, { check });
  await refuseEverywhere(script, { check });
});

// #region decide
it.each(['yes', 'no'])('waits for the manager, who answers %s', async (decision) => {
  const large = testSaga(refund, options)
    .on.elicit('amount', { euros: 500 })
    .on.step('decision', ({ attempt }) => (attempt === 3 ? decision : undefined));
  const run = await large.run();
  expect(run.result).toMatch(decision === 'yes' ? 'Refunded 500 EUR' : 'declined 500 EUR');
  expect(payments.standing).toHaveLength(decision === 'yes' ? 1 : 0);
});
// #endregion decide
