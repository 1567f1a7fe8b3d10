import { elicit, saga, step } from '@mcp-saga/server';
import { Provider, testSaga } from '@mcp-saga/testing';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

// #region provider
export const bank = new Provider<number>();
export const pay = saga({ name: 'pay', version: '1' }, function* () {
  yield* step('charge', ({ idempotencyKey }) => void bank.do(idempotencyKey, 9), {
    compensate: ({ stepKey }) => bank.undo(stepKey),
    unknown: 'compensate',
  });
  yield* elicit('sure', { message: 'Keep it?', schema: Sure });
  return 'Paid.';
});
export const paid = testSaga(pay, { providers: [bank] }).on.elicit('sure', { sure: true });
// #endregion provider
