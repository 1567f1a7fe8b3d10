import { crashEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { payments } from './bank.ts';
import { refund } from './refund.ts';

const options = { input: { order: 'A7' }, providers: [payments] };
const script = testSaga(refund, options).on.elicit('amount', { euros: 20 });

// #region charge
it('pays the amount', async () => {
  const run = await script.run();
  expect(run.result).toBe('Refunded 20 EUR for A7.');
  expect(payments.standing).toEqual([{ order: 'A7', euros: 20 }]);
});
// #endregion charge

// #region crash
it('pays once, wherever the process dies', async () => {
  await crashEverywhere(script, { check: () => expect(payments.standing).toHaveLength(1) });
});
// #endregion crash
