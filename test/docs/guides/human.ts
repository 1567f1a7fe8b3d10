import {
  approval,
  createSagaHost,
  elicit,
  memoryQueue,
  memoryStore,
  saga,
  standardWebhook,
  step,
  waitFor,
  type SagaHost,
} from '@mcp-saga/server';
import { z } from 'zod';

/** Links that were sent, URLs that the warehouse posts to, and refunds that were paid. */
export const links: string[] = [];
export const webhooks: string[] = [];
export const paid: number[] = [];
const mail = { send: (_to: string, url: string, _key: string): void => void links.push(url) };
const warehouse = {
  expect: (_order: string, url: string, _key: string): void => void webhooks.push(url),
};
const bank = { pay: (cents: number, _key: string): void => void paid.push(cents) };
const roles: Readonly<Record<string, string>> = { ann: 'manager', dora: 'clerk' };

// #region tool
const Sure = z.object({ sure: z.boolean() });
const Reason = z.object({ reason: z.string().max(200).optional() });
const Arrived = z.object({ type: z.literal('arrived') });

export const refund = saga(
  {
    name: 'refund',
    version: '1',
    description: 'Refunds an order that its user has sent back',
    input: z.object({ order: z.string(), cents: z.int().positive() }),
    task: 'prefer',
  },
  function* ({ order, cents }) {
    const amount = `${(cents / 100).toFixed(2)} EUR`;
    // The user of the client, who waits in front of it.
    const { sure } = yield* elicit('sure', {
      message: `Refund ${amount} for order ${order}?`,
      schema: Sure,
      answeredBy: ['client'], // no model answers for its user
      timeout: '15m',
    });
    if (!sure) return 'Not refunded.';

    // Another person, who signs in on a page of the server. The caller may be gone.
    if (cents > 10_000) {
      const decision = yield* approval('manager', {
        message: `Refund ${amount} for order ${order}?`,
        schema: Reason,
        by: { role: 'manager' },
        deliver: ({ url, idempotencyKey }) =>
          mail.send('managers@shop.example', url, idempotencyKey),
        timeout: '2d',
      });
      if (!decision.approved) return `Not refunded: ${decision.reason}.`;
    }

    // A system, which signs its event.
    yield* waitFor('arrived', {
      schema: Arrived,
      register: ({ url, idempotencyKey }) => warehouse.expect(order, url, idempotencyKey),
      verify: 'warehouse',
      timeout: '5d',
    });

    yield* step('pay', ({ idempotencyKey }) => bank.pay(cents, idempotencyKey), { retry: 5 });
    return `Refunded ${amount}.`;
  },
);
// #endregion tool

// #region host
export const hostOf = (secret: string): SagaHost =>
  createSagaHost({
    sagas: [refund],
    name: 'shop',
    keys: 'ephemeral',
    store: memoryStore(), // holds questions and answers
    queue: memoryQueue(), // goes on without the client
    url: 'https://shop.example', // where the links lead
    auth: { mayAnswer: ({ subject }, by) => Object(by).role === roles[subject] },
    webhooks: { warehouse: standardWebhook(secret) },
  });
// #endregion host
