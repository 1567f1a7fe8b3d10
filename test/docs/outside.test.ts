import { createHmac } from 'node:crypto';
import {
  createSagaHost,
  memoryStore,
  type Program,
  type SagaCaller,
  type SagaHost,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { checkout, hire, links } from './effects/outside.ts';
import { hostOf as approvals, mails, pages, refund, refunds } from './guides/approvals.ts';
import { machineHost, refunds as refundsByMachine, sent } from './guides/approval-machine.ts';
import { checkouts, hostOf as webhooks } from './guides/webhooks.ts';
import { expectLogs } from '../support/logs.ts';

expectLogs(/Tasks are not offered: without authentication/);

const url = 'https://shop.example';
const user = (subject: string): SagaCaller => ({ principal: { subject, client: 'browser' } });

function post(
  host: SagaHost,
  link: string,
  decision: string,
  caller: SagaCaller | 'anonymous' = 'anonymous',
): Promise<Response> {
  const body = new URLSearchParams({ decision, f0: 'Well done' });
  return host.answer(new Request(link, { method: 'POST', body }), { caller });
}

/** Starts a saga, and returns a function that waits for its result. */
async function started(
  host: SagaHost,
  name: string,
  args: object = {},
): Promise<() => Promise<string>> {
  const turn = await host.start(name, args, { caller: user('carl') });
  if (turn.status !== 'suspended') throw new Error(turn.status);
  return async () => JSON.stringify(await host.resume(turn.token, [], { caller: user('carl') }));
}

function linkIn(text: string | undefined): string {
  return /https:\S+/.exec(text ?? '')?.[0] ?? '';
}

describe('the guide to approvals', () => {
  it('refunds after a manager has approved, and refuses clerks and the caller', async () => {
    const host = approvals(url);
    const result = await started(host, 'refund', { amount: 20 });
    const link = linkIn(mails.at(-1)?.text);
    expect((await post(host, link, 'approve', user('carl'))).status).toBe(403);
    expect((await post(host, link, 'approve', user('dora'))).status).toBe(403);
    expect((await post(host, link, 'approve', user('ann'))).status).toBe(200);
    expect(await result()).toContain('Refunded 20 EUR. ann: Well done');
    expect(refunds).toEqual([20]);
  });

  it('shows the name, the language, the logo, and the words of the service on its page', async () => {
    const host = createSagaHost({
      sagas: [refund],
      name: 'shop',
      keys: 'ephemeral',
      store: memoryStore(),
      ...pages,
      auth: { mayAnswer: () => true },
    });
    await started(host, 'refund', { amount: 20 });
    const link = linkIn(mails.at(-1)?.text);
    const form = await host.answer(new Request(link), { caller: user('ann') });
    const html = await form.text();
    const { name, lang, logo, words } = pages.page;
    for (const part of [name, `lang="${lang}"`, logo, words.approve, words.deny])
      expect(html).toContain(part);
    const receipt = await post(host, link, 'approve', user('ann'));
    expect(await receipt.text()).toMatch(/Ihre Antwort wurde am <time.*UTC<\/time> gespeichert\./);
  });

  it('needs two of three links', async () => {
    const host = approvals(url);
    mails.length = 0;
    const result = await started(host, 'release');
    expect(mails.map(({ to }) => to)).toEqual([
      'ann@shop.example',
      'bob@shop.example',
      'eve@shop.example',
    ]);
    await post(host, linkIn(mails[0]?.text), 'approve');
    expect((await post(host, linkIn(mails[0]?.text), 'approve')).status).toBe(409);
    await post(host, linkIn(mails[2]?.text), 'approve');
    expect(await result()).toContain('Released.');
  });
});

describe('the guide to webhooks', () => {
  const bytes = Buffer.alloc(24, 1);
  const send = (host: SagaHost, content: object, isSigned: boolean): Promise<Response> => {
    const body = JSON.stringify(content);
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', bytes).update(`id.${at}.${body}`).digest('base64');
    const headers = {
      'webhook-id': 'id',
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signature}`,
    };
    const link = checkouts.at(-1)?.webhook ?? '';
    return host.answer(
      new Request(link, { method: 'POST', body, ...(isSigned ? { headers } : {}) }),
    );
  };

  it('accepts the first signed event that matches', async () => {
    const host = webhooks(`whsec_${bytes.toString('base64')}`);
    const result = await started(host, 'pay', { amount: 5 });
    const paid = { type: 'payment.paid', reference: 'r1' };
    expect((await send(host, paid, false)).status).toBe(401);
    expect((await send(host, { type: 'payment.created' }, true)).status).toBe(202);
    expect((await send(host, paid, true)).status).toBe(202);
    expect(await result()).toContain('Paid: r1');
  });
});

describe('the machines of the guides', () => {
  it('refund after an approval, and not after a denial', async () => {
    const host = machineHost(url);
    const approved = await started(host, 'refund', { amount: 20 });
    expect((await post(host, linkIn(sent.at(-1)), 'approve', user('ann'))).status).toBe(200);
    expect(await approved()).toContain('A refund of 20 EUR.');
    const denied = await started(host, 'refund', { amount: 30 });
    await post(host, linkIn(sent.at(-1)), 'deny', user('ann'));
    expect(await denied()).toContain('failed');
    expect(refundsByMachine).toEqual([20]);
  });

  it('receive an event that a server step checks', async () => {
    const host = machineHost(url);
    const result = await started(host, 'pay');
    const event = { method: 'POST', body: '{"type":"payment.paid","reference":"r1"}' };
    expect((await host.answer(new Request(sent.at(-1) ?? '', event))).status).toBe(401);
    const headers = { authorization: 'bank' };
    await host.answer(new Request(sent.at(-1) ?? '', { ...event, headers }));
    expect(await result()).toContain('Paid: r1');
  });
});

describe('the examples of effects that wait for answers from outside', () => {
  const hostOf = (saga: Program): SagaHost =>
    createSagaHost({
      sagas: [saga],
      name: 'shop',
      keys: 'ephemeral',
      store: memoryStore(),
      url,
    });

  it('asks two people with `approval`', async () => {
    const host = hostOf(hire);
    const result = await started(host, 'hire');
    for (const link of links.splice(0))
      expect((await post(host, link, 'approve')).status).toBe(200);
    expect(await result()).toContain('Hired.');
  });

  it('waits for an event with `waitFor`', async () => {
    const host = hostOf(checkout);
    const result = await started(host, 'checkout');
    await host.answer(
      new Request(links.pop() ?? '', { method: 'POST', body: '{"type":"paid","amount":7}' }),
    );
    expect(await result()).toContain('Paid 7 EUR.');
  });
});
