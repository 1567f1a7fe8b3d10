import { testSaga } from '@mcp-saga/testing';
import { entries, payments } from './bank.ts';
import { refund } from './refund.ts';

/** The manager decides in the third minute. */
export const script = testSaga(refund, { input: { order: 'A7' }, providers: [payments, entries] })
  .on.elicit('amount', { euros: 500 })
  .on.step('decision', ({ attempt }) => (attempt === 3 ? 'yes' : undefined));

/** A request that stays on the desk does no harm. */
export const harmless = ['ask-manager'];

/** Money and books agree after every run. */
export function check(): void {
  if (payments.standing.length !== entries.standing.length)
    throw new Error(
      `${payments.standing.length} payments, but ${entries.standing.length} entries in the books`,
    );
}
