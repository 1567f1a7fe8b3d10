import { approval, saga, waitFor } from '@mcp-saga/server';
import { z } from 'zod';

/** Links that were delivered, in order. */
export const links: string[] = [];
const mail = { send: (_to: string, url: string, _key: string): void => void links.push(url) };
const bank = { checkout: (webhook: string, _key: string): void => void links.push(webhook) };

const day = 86_400_000;

// #region approval
const Reason = z.object({ reason: z.string().optional() });

export const hire = saga({ name: 'hire', version: '1', task: 'prefer' }, function* () {
  const decision = yield* approval('board', {
    message: 'Hire Ann?',
    schema: Reason,
    to: ['bob@shop.example', 'eve@shop.example'],
    of: 2,
    link: 'accept',
    deliver: ({ url, to = '', idempotencyKey }) => mail.send(to, url, idempotencyKey),
    timeout: 2 * day,
  });
  return decision.approved ? 'Hired.' : `Not hired: ${decision.reason}.`;
});
// #endregion approval

// #region waitFor
const Paid = z.object({ type: z.literal('paid'), amount: z.number() });

export const checkout = saga({ name: 'checkout', version: '1', task: 'prefer' }, function* () {
  const { amount } = yield* waitFor('payment', {
    schema: Paid,
    register: ({ url, idempotencyKey }) => bank.checkout(url, idempotencyKey),
    link: 'accept',
    timeout: day,
  });
  return `Paid ${amount} EUR.`;
});
// #endregion waitFor
