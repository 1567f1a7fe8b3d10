import { testSaga } from '@mcp-saga/testing';
import { machines } from './cloud.ts';
import { provision } from './saga.ts';

/** The user keeps the machine. */
export const script = testSaga(provision, {
  input: { size: 'small' },
  providers: [machines],
}).on.elicit('keep', { keep: true });
