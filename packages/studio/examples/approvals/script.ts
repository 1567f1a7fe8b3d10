import { testSaga } from '@mcp-saga/testing';
import { mails, refund, refunds } from './approvals.ts';

/** A manager approves. In the playground, decide as another person. */
export const script = testSaga(refund, {
  input: { amount: 20 },
  before: () => {
    mails.length = 0;
    refunds.length = 0;
  },
}).on.approval('manager', { by: 'ann', content: { comment: 'ok' } });

/** A second mail does no harm. The step of the refund has no undo, as nothing follows. */
export const harmless = ['manager/deliver', 'refund'];
