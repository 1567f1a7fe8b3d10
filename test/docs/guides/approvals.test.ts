import { crashEverywhere, refuseEverywhere, testSaga, type SagaRun } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { refund } from './approvals.ts';

const hour = 3_600_000;

// #region test
const requested = testSaga(refund, { input: { amount: 20 } });
const ann = { by: 'ann', content: { comment: 'Well done' }, after: hour };
const approved = requested.on.approval('manager', [ann]);

it('refunds after an approval', async () => {
  const run = await approved.run();
  expect(run.result).toBe('Refunded 20 EUR. ann: Well done');
});

it('refunds nothing after a denial, a late answer, or silence', async () => {
  const no = { by: 'ann', approved: false, content: { comment: 'Too late' } };
  const denied = await requested.on.approval('manager', [no]).run();
  expect(denied.result).toBe('Not refunded: denied, ann: Too late');
  const late = await approved.late.approval('manager', 72 * hour).run();
  expect(late.result).toBe('Not refunded: timeout');
  const silent = await requested.silent.approval('manager').run();
  expect(silent.result).toBe('Not refunded: timeout');
});

it('refunds once, wherever its process dies', async () => {
  await crashEverywhere(approved);
});

it('refunds nothing after each denial, and without an answer', async () => {
  const check = ({ effects }: SagaRun): void =>
    expect(effects.map(({ id }) => id)).not.toContain('refund');
  await refuseEverywhere(approved, { check });
});
// #endregion test
