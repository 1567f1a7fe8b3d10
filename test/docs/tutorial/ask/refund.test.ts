import { testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { refund } from './refund.ts';

// #region ask
it('asks for the amount', async () => {
  const script = testSaga(refund, { input: { order: 'A7' } }).on.elicit('amount', { euros: 20 });
  const run = await script.run();
  expect(run.result).toBe('Would refund 20 EUR for A7.');
});
// #endregion ask
