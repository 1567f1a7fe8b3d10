/**
 * Two orders whose client never returns: the first is paid, and the second is paid a day too late.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startSaga, SuspendedSaga } from '@mcp-saga/client';
import { connect, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import { startWorld } from './world.ts';

const hour = 3_600_000;
const secretOf = (): string => `whsec_${randomBytes(24).toString('base64')}`;
const secret = secretOf();
const world = await startWorld();
const server = await startServer('A', {
  folder: new URL('.', import.meta.url),
  environment: { SAGA_KEYS: generateKey(), WORLD_URL: world.url, WEBHOOK_SECRET: secret },
});

/**
 * Orders until the provider has a checkout, and disconnects. Returns the saga as JSON, and the URL
 * of its webhook.
 */
async function place(order: string, cents: number): Promise<{ saga: string; webhook: string }> {
  const client = await connect(server.url, {});
  const first = await startSaga(client, { name: 'order', arguments: { order, cents } });
  assert(first.status === 'suspended');
  assert.equal(world.reserved.size, 0, 'the client has its token before anything is reserved');
  const second = await first.saga.resume();
  assert(second.status === 'suspended');
  await client.close();
  const checkout = world.checkouts.at(-1);
  assert.equal(checkout?.order, order);
  console.log(`\nThe client orders ${order}, opens ${checkout.checkout}, and is gone.`);
  return { saga: JSON.stringify(second.saga), webhook: checkout.webhook };
}

/** Posts an event of the provider, and checks the status of the response. */
async function notify(
  webhook: string,
  what: string,
  event: object,
  status: number,
  by = secret,
): Promise<void> {
  assert.equal(await world.notify(webhook, event, by), status, what);
  console.log(`The server gets ${what}: ${status}`);
}

/** Returns the result of an order, for a client that returns. */
async function resultOf(saga: string): Promise<string> {
  const client = await connect(server.url, {});
  const turn = await SuspendedSaga.from(client, JSON.parse(saga)).resume();
  await client.close();
  assert(turn.status === 'completed');
  const text = turn.result.content.map((block) => ('text' in block ? block.text : '')).join('');
  console.log(`The client is back: ${text}`);
  return text;
}

/** Advances the clock of the server. The queue delivers all messages that are due. */
async function advance(ms: number): Promise<void> {
  await fetch(new URL(`/advance/${ms}`, server.url), { method: 'POST' });
}

/** Waits for the queue, which continues the saga in the background. */
async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await delay(20);
}

// Order 1: only an authentic payment of the whole amount counts, and counts once.
const paid = { type: 'payment.paid', cents: 4_200 };
const first = await place('order-1', 4_200);
await notify(first.webhook, 'a forged payment', paid, 401, secretOf());
await notify(first.webhook, 'news of the checkout', { type: 'checkout.opened' }, 202);
await notify(first.webhook, 'a part of the payment', { ...paid, cents: 100 }, 202);
await advance(hour);
assert.deepEqual(world.shipped, [], 'nothing is shipped before the payment');
await notify(first.webhook, 'the payment', paid, 202);
await until(() => world.shipped.length > 0);
console.log('The queue has shipped the order, without the client.');
await notify(first.webhook, 'the same payment again', paid, 200);
assert.match(await resultOf(first.saga), /^order-1 is paid, and shipped as parcel-1\./);

// Order 2: no payment arrives within a day. The goods are released, and a late payment is refused.
const second = await place('order-2', 700);
assert.deepEqual([...world.reserved], ['order-2']);
await advance(25 * hour);
await until(() => world.reserved.size === 0);
console.log('A day later, the queue has released the goods, without the client.');
await notify(second.webhook, 'a late payment', { type: 'payment.paid', cents: 700 }, 410);
assert.match(await resultOf(second.saga), /order-2 was not paid within a day/);
await advance(48 * hour);
assert.deepEqual(world.shipped, ['order-1'], 'one order was shipped, once');
assert.equal(world.checkouts.length, 2, 'each checkout was created once');

await Promise.all([server.stop(), world.stop()]);
console.log('\nTwo orders, one payment, one parcel. No goods are reserved.');
