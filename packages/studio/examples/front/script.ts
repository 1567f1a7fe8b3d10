import { testSaga } from '@mcp-saga/testing';
import { entries, payments } from './bank.ts';
import { refund } from './refund.ts';

/** What the playground runs: the saga, its arguments, and its fakes. */
export const script = testSaga(refund, {
  input: { order: 'A7' },
  providers: [payments, entries],
}).on.elicit('amount', { euros: 20 });

/** Money and books agree after every run. */
export function check(): void {
  if (payments.standing.length !== entries.standing.length)
    throw new Error(
      `${payments.standing.length} payments, but ${entries.standing.length} entries in the books`,
    );
}
