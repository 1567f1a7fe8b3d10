import { testSaga } from '@mcp-saga/testing';
import { entries, payments } from './bank.ts';
import { refund } from './refund.ts';

/** What the playground runs: the saga, its arguments, and its fakes. */
export const script = testSaga(refund, {
  input: { order: 'A7' },
  providers: [payments, entries],
}).on.elicit('amount', { euros: 20 });

/** Money and books agree after every run. The playground shows the message in red. */
export function check(): void {
  const [paid, booked] = [payments, entries].map(({ standing }) =>
    standing.reduce((sum, { euros }) => sum + euros, 0),
  );
  if (paid !== booked)
    throw new Error(`The bank paid ${paid} EUR, the books show ${booked}, and nothing undid it.`);
}
