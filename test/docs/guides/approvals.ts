import {
  approval,
  createSagaHost,
  memoryQueue,
  memoryStore,
  saga,
  step,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { z } from 'zod';

/** Mails that were sent, and refunds that were made. */
export const mails: { readonly to: string; readonly text: string; readonly key: string }[] = [];
export const refunds: number[] = [];
const mail = {
  send: async (to: string, text: string, key: string): Promise<void> =>
    void mails.push({ to, text, key }),
};
const bank = {
  refund: async (amount: number, _key: string): Promise<void> => void refunds.push(amount),
};
const roles: Readonly<Record<string, string>> = { ann: 'manager', dora: 'director', carl: 'clerk' };

const hour = 3_600_000;
const day = 24 * hour;

// #region tool
const Comment = z.object({ comment: z.string().max(500).optional() });

export const refund = saga(
  {
    name: 'refund',
    version: '1',
    input: z.object({ amount: z.number() }),
    task: 'prefer',
  },
  function* ({ amount }) {
    const decision = yield* approval('manager', {
      message: `Refund ${amount} EUR?`,
      schema: Comment,
      by: { role: 'manager' }, // passed to auth.mayAnswer of the host
      deliver: ({ url, idempotencyKey }) =>
        mail.send('managers@shop.example', `Decide here: ${url}`, idempotencyKey),
      timeout: 2 * day,
    });
    const answers = decision.answers.map((answer) => {
      const name = answer.by === 'link' ? 'the link' : answer.by.subject;
      const { comment = answer.approved ? 'yes' : 'no' } = Object(answer.content); // also of a denial
      return `${name}: ${comment}`;
    });
    if (!decision.approved) return `Not refunded: ${[decision.reason, ...answers].join(', ')}`;
    yield* step('refund', ({ idempotencyKey }) => bank.refund(amount, idempotencyKey));
    return `Refunded ${amount} EUR. ${answers.join(', ')}`;
  },
);
// #endregion tool

// #region host
export const hostOf = (url: string): SagaHost =>
  createSagaHost({
    sagas: [refund, release],
    name: 'shop',
    keys: 'ephemeral',
    store: memoryStore(),
    queue: memoryQueue(), // continues sagas whose clients are gone
    url,
    auth: {
      mayAnswer: ({ subject }, by) => Object(by).role === roles[subject],
    },
  });
// #endregion host

// #region page
export const pages = {
  url: 'https://shop.example',
  page: {
    name: 'Laden Nord',
    lang: 'de',
    logo: 'https://cdn.shop.example/logo.svg',
    words: {
      decisionNeeded: 'Ihre Entscheidung ist nötig',
      approve: 'Genehmigen',
      deny: 'Ablehnen',
      recorded: 'Ihre Antwort wurde am {time} gespeichert.',
      // and so on
    },
  },
} satisfies Pick<SagaHostOptions, 'url' | 'page'>;
// #endregion page

// #region several
const options = { name: 'release', version: '1', task: 'prefer' } as const;

export const release = saga(options, function* () {
  const decision = yield* approval('release', {
    message: 'Release version 2?',
    to: ['ann@shop.example', 'bob@shop.example', 'eve@shop.example'],
    of: 2, // approvals needed
    denials: 2, // denials that end it
    link: 'accept', // possession of the link is enough
    deliver: ({ url, to = 'boss@shop.example', isReminder, idempotencyKey }) =>
      mail.send(to, `${isReminder ? 'Reminder: ' : ''}${url}`, idempotencyKey),
    remindEvery: 4 * hour,
    escalate: [{ after: day, to: ['boss@shop.example'] }],
    timeout: 2 * day,
  });
  return decision.approved ? 'Released.' : `Not released: ${decision.reason}.`;
});
// #endregion several
