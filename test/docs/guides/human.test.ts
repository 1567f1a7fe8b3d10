import { createHmac } from 'node:crypto';
import type { SagaCaller, SagaHost } from '@mcp-saga/server';
import { crashEverywhere, testSaga } from '@mcp-saga/testing';
import { beforeEach, expect, it } from 'vitest';
import { expectLogs } from '../../support/logs.ts';
import { hostOf, links, paid, refund, webhooks } from './human.ts';

expectLogs(/Tasks are not offered: without authentication/);

beforeEach(() => {
  for (const list of [links, webhooks, paid]) list.splice(0);
});

// #region test
const asked = testSaga(refund, { input: { order: '7', cents: 20_000 } });
const agreed = asked.on.elicit('sure', { sure: true });
const approved = agreed.on.approval('manager', [{ by: 'ann', after: 3_600_000 }]);
const arrived = approved.on.event('arrived', { type: 'arrived' }, { after: 86_400_000 });

it('refunds once after everybody has answered, wherever its process dies', async () => {
  expect((await arrived.run()).result).toBe('Refunded 200.00 EUR.');
  await crashEverywhere(arrived, { harmless: ['*/deliver', '*/register'] });
});

it.each([
  ['the user declines', asked.refuse.elicit('sure'), 'elicitation_refused'],
  ['the user is silent', asked.silent.elicit('sure', 60_000), 'step_timed_out'],
  ['nothing arrives', approved.silent.event('arrived'), 'step_timed_out'],
])('fails and pays nothing if %s', async (_, script, code) => {
  const run = await script.run();
  expect(run.error).toMatchObject({ code });
  expect(run.effects.map(({ id }) => id)).not.toContain('pay');
});

it.each([
  ['denies', agreed.on.approval('manager', false), 'Not refunded: denied.'],
  ['is silent', agreed.silent.approval('manager'), 'Not refunded: timeout.'],
])('ends and pays nothing if the manager %s', async (_, script, result) => {
  const run = await script.run();
  expect(run.result).toBe(result);
  expect(run.effects.map(({ id }) => id)).not.toContain('pay');
});
// #endregion test

const secret = Buffer.alloc(24, 1);
const as = (subject: string): SagaCaller => ({ principal: { subject, client: 'browser' } });

function decide(host: SagaHost, subject: string): Promise<Response> {
  const body = new URLSearchParams({ decision: 'approve' });
  const request = new Request(links.at(-1) ?? '', { method: 'POST', body });
  return host.answer(request, { caller: as(subject) });
}

function arrive(host: SagaHost, isSigned: boolean): Promise<Response> {
  const body = '{"type":"arrived"}';
  const at = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`id.${at}.${body}`).digest('base64');
  const headers = {
    'webhook-id': 'id',
    'webhook-timestamp': at,
    'webhook-signature': `v1,${signature}`,
  };
  const request = { method: 'POST', body, ...(isSigned ? { headers } : {}) };
  return host.answer(new Request(webhooks.at(-1) ?? '', request));
}

it('lets the manager and the warehouse answer, neither a clerk, nor the caller, nor an unsigned event', async () => {
  const host = hostOf(`whsec_${secret.toString('base64')}`);
  const order = { order: '7', cents: 20_000 };
  const turn = await host.start('refund', order, { caller: as('carl') });
  if (turn.status !== 'suspended') throw new Error(turn.status);
  const yes = { stepId: 'sure', result: { action: 'accept', content: { sure: true } } };
  await host.resume(turn.token, [yes], { caller: as('carl') });

  expect((await decide(host, 'carl')).status).toBe(403);
  expect((await decide(host, 'dora')).status).toBe(403);
  expect((await decide(host, 'ann')).status).toBe(200);
  // From here on, the queue continues the saga: its client does not return.
  await expect.poll(() => webhooks.length).toBe(1);
  expect((await arrive(host, false)).status).toBe(401);
  expect((await arrive(host, true)).status).toBe(202);
  await expect.poll(() => paid).toEqual([20_000]);
});

it('asks no manager for a small amount', async () => {
  const small = testSaga(refund, { input: { order: '8', cents: 2_000 } });
  const run = await small.on
    .elicit('sure', { sure: true })
    .on.event('arrived', { type: 'arrived' })
    .run();
  expect(run.result).toBe('Refunded 20.00 EUR.');
  expect(links).toEqual([]);
});
