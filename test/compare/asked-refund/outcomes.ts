import { faults, type Fault, type Outcome } from './play.ts';

const once = { requests: 1, refunds: 1, held: true, last: 'Refunded: re_1' };
const twiceWithOneKey = { ...once, requests: 2 };
const declined = { requests: 0, refunds: 0, held: false, last: 'Not refunded.' };
const refused = { requests: 0, refunds: 0, held: true, last: 'Invalid or expired requestState' };

/** What comes of each contender, by its name. The test runs all of them, and compares. */
export const outcomes: Readonly<Record<string, Readonly<Record<Fault, Outcome>>>> = {
  requestState: {
    lostResponse: twiceWithOneKey,
    kill: twiceWithOneKey,
    decline: declined,
    otherUser: refused,
    reuse: { ...once, held: false },
  },
  LangGraph: {
    lostResponse: once,
    kill: twiceWithOneKey,
    decline: declined,
    otherUser: refused,
    reuse: declined,
  },
  'AWS durable functions': {
    lostResponse: once,
    kill: twiceWithOneKey,
    decline: declined,
    otherUser: refused,
    reuse: declined,
  },
  'mcp-saga': {
    lostResponse: once,
    kill: twiceWithOneKey,
    decline: { ...declined, last: "The user declined the question 'sure'. Undone: 'hold'." },
    otherUser: refused,
    reuse: { ...refused, held: false },
  },
};

/** Rows of the table of a page: a fault, what comes of a contender, and what comes of the saga. */
export function rowsOf(name: string): readonly string[] {
  return (Object.keys(faults) as Fault[]).map((fault) => {
    const cells = [name, 'mcp-saga'].map((one) => cellOf(outcomes[one]![fault]));
    return `| ${[faults[fault], ...cells].join(' | ')} |`;
  });
}

function cellOf({ requests, refunds, held, last }: Outcome): string {
  const money = refunds === 0 ? 'no refund' : '1 refund';
  const sent = requests > refunds ? ` for ${requests} requests with one key` : '';
  return `${money}${sent}, parcel ${held ? 'held' : 'released'}: "${last}"`;
}
