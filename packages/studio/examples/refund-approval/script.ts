import { testSaga } from '@mcp-saga/testing';
import { refund } from './saga.ts';
import { holds, mails, payments } from './world.ts';

/** Two managers approve. In the playground, decide as other people. */
export const script = testSaga(refund, {
  input: { order: 'A7', cents: 2_000 },
  providers: [holds, payments, mails],
}).on.approval('manager', [{ by: 'ann' }, { by: 'bob' }]);

/** Mails stay sent. */
export const harmless = ['manager/*'];
