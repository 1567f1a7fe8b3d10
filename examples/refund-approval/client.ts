/**
 * Two refunds whose client is killed: the managers approve the first, and deny the second. With
 * `DATABASE_URL`, store and queue are in PostgreSQL. With `--browser`, you open the links of the
 * managers.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSaga, SuspendedSaga } from '@mcp-saga/client';
import { connect, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import { startWorld } from './world.ts';

const hour = 3_600_000;
const isBrowser = process.argv.includes('--browser');
const folder = new URL('.', import.meta.url);
const world = await startWorld();
const server = await startServer('A', {
  folder,
  environment: { SAGA_KEYS: generateKey(), WORLD_URL: world.url },
});
console.log(
  `Answers and messages are ${process.env['DATABASE_URL'] ? 'in PostgreSQL' : 'in memory'}.`,
);

/**
 * Asks for a refund, and kills the client once the managers have their links. Returns the saga as
 * JSON.
 */
async function request(order: string, cents: number): Promise<string> {
  const client = await connect(server.url, {});
  const first = await startSaga(client, { name: 'refund', arguments: { order, cents } });
  assert(first.status === 'suspended');
  assert.equal(world.holds.size, 0, 'the client has its token before money is on hold');
  await client.close();
  const args = [...process.execArgv, 'caller.ts', server.url.href, JSON.stringify(first.saga)];
  const caller = spawn(process.execPath, args, {
    cwd: fileURLToPath(folder),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(caller, 'exit');
  const [saga] = await Promise.race([once(createInterface(caller.stdout), 'line'), gone]);
  assert(typeof saga === 'string', 'the client continued the saga');
  caller.kill('SIGKILL');
  await gone;
  console.log(`\nThe caller asks for a refund of order ${order}, and is killed.`);
  return saga;
}

/** Returns the result of a refund, for a client that returns. */
async function resultOf(saga: string): Promise<string> {
  const client = await connect(server.url, {});
  const turn = await SuspendedSaga.from(client, JSON.parse(saga)).resume();
  await client.close();
  assert(turn.status === 'completed');
  const text = turn.result.content.map((block) => ('text' in block ? block.text : '')).join('');
  console.log(`The caller is back: ${text}`);
  return text;
}

/**
 * Opens the link of the last mail to a manager, and submits the form, as a browser does. With
 * `--browser`, waits for you to do so.
 */
async function decide(manager: string, decision: 'approve' | 'deny'): Promise<void> {
  const mail = world.mails.findLast(({ to }) => to.startsWith(manager));
  const url = /http:\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  if (isBrowser) {
    console.log(`Open ${url} as ${manager}, and click '${decision}'.`);
    await until(async () => /You (approved|denied)/.test(await (await fetch(url)).text()));
    return;
  }
  const page = await fetch(url);
  assert.equal(page.status, 200);
  const html = await page.text();
  assert.match(html, /Refund \d+\.\d\d EUR for order/);
  const [, comment = ''] = /name="([^"]+)"/.exec(html) ?? [];
  const answer = await fetch(url, {
    method: 'POST',
    headers: { origin: server.url.origin },
    body: new URLSearchParams({ decision, [comment]: 'As agreed' }),
  });
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), decision === 'approve' ? /You approved/ : /You denied/);
  const again = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ decision: 'approve' }),
  });
  assert.equal(again.status, 409, 'the first answer counts');
  console.log(`${manager} opens the link, and clicks '${decision}'.`);
}

/** Advances the clock of the server. The queue delivers all messages that are due. */
async function advance(ms: number): Promise<void> {
  await fetch(new URL(`/advance/${ms}`, server.url), { method: 'POST' });
}

/** Waits for the queue, which continues the saga in the background. */
async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await delay(20);
}

const recipients = (): readonly string[] =>
  world.mails
    .map(
      ({ to, text }) => `${text.startsWith('Reminder') ? 'reminds' : 'asks'} ${to.split('@')[0]}`,
    )
    .toSorted();

// Refund 1: one approval and one denial decide nothing. After four hours, only Cy is reminded.
const approved = await request('order-1', 2_500);
assert.deepEqual(recipients(), ['asks ann', 'asks bob', 'asks cy']);
assert.deepEqual([...world.holds.values()], [2_500]);
await decide('ann', 'approve');
await decide('bob', 'deny');
await advance(4 * hour);
await until(() => world.mails.length > 3);
assert.deepEqual(recipients(), ['asks ann', 'asks bob', 'asks cy', 'reminds cy']);
console.log('Four hours later, the queue reminds cy.');
await decide('cy', 'approve');
await until(() => world.payments.length > 0);
console.log(`The bank has paid ${world.payments.join()} cents, without the caller.`);
assert.match(await resultOf(approved), /^25\.00 EUR for order order-1 are refunded\./);
await advance(48 * hour);
assert.deepEqual(world.payments, [2_500], 'the money moved once');
assert.equal(world.holds.size, 0);

// Refund 2: two denials end it, and the hold is released.
const denied = await request('order-2', 9_900);
assert.deepEqual([...world.holds.values()], [9_900]);
await decide('bob', 'deny');
await decide('cy', 'deny');
await until(() => world.holds.size === 0);
console.log('The queue has undone the hold, without the caller.');
assert.match(await resultOf(denied), /not approved: denied/);
assert.deepEqual(world.payments, [2_500], 'nothing was paid');
assert.equal(world.mails.length, 7, 'nobody was asked or reminded twice');

await Promise.all([server.stop(), world.stop()]);
console.log('\nTwo refunds, one payment. No money is on hold.');
