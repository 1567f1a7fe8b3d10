import { testSaga } from '@mcp-saga/testing';
import { buy, charges, shipments } from './payments.ts';

/** The user confirms after the charge. */
export const script = testSaga(buy, {
  input: { item: 'Lamp', amount: 20 },
  providers: [charges, shipments],
}).on.elicit('sure', { sure: true });
