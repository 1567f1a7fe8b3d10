import { createHmac } from 'node:crypto';
import { standardWebhook } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';

// The example of the specification of Standard Webhooks 1.0.0.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const timestamp = '1614265330';
const body = '{"test": 2432232314}';
const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const clock = (): number => 1_614_265_330_000;

function requestOf(
  changes: Readonly<Record<string, string | undefined>> = {},
  content: string = body,
): Request {
  const given = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    ...changes,
  };
  const headers = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return new Request('https://shop.example/', { method: 'POST', headers, body: content });
}

describe('standardWebhook', () => {
  it('accepts the example of the specification', async () => {
    expect(await standardWebhook(secret, { clock })(requestOf())).toBe(true);
    expect(await standardWebhook(secret.slice('whsec_'.length), { clock })(requestOf())).toBe(true);
  });

  it('accepts one of several secrets and signatures, while a secret is rotated', async () => {
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const check = standardWebhook([other, secret], { clock });
    expect(await check(requestOf({ 'webhook-signature': `v1,AAAA v1a,AAAA ${signature}` }))).toBe(
      true,
    );
  });

  it.each<[string, Request]>([
    ['an altered body', requestOf({}, `${body} `)],
    ['another ID', requestOf({ 'webhook-id': 'msg_other' })],
    ['another time', requestOf({ 'webhook-timestamp': '1614265331' })],
    ['no ID', requestOf({ 'webhook-id': undefined })],
    ['no time', requestOf({ 'webhook-timestamp': undefined })],
    ['no signature', requestOf({ 'webhook-signature': undefined })],
    [
      'a signature of another version',
      requestOf({ 'webhook-signature': signature.replace('v1', 'v2') }),
    ],
    ['an empty signature', requestOf({ 'webhook-signature': 'v1,' })],
    ['a signature that is not base64', requestOf({ 'webhook-signature': 'v1,%%%' })],
    ['a time that is not a number', requestOf({ 'webhook-timestamp': 'NaN' })],
  ])('refuses %s', async (_, request) => {
    expect(await standardWebhook(secret, { clock })(request)).toBe(false);
  });

  it('accepts events up to five minutes old', async () => {
    const at = (ms: number): Promise<boolean> =>
      Promise.resolve(standardWebhook(secret, { clock: () => clock() + ms })(requestOf()));
    expect([await at(300_000), await at(-300_000), await at(300_001), await at(-300_001)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('refuses a signature by another secret', async () => {
    const forged = createHmac('sha256', Buffer.alloc(24))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    expect(
      await standardWebhook(secret, { clock })(requestOf({ 'webhook-signature': `v1,${forged}` })),
    ).toBe(false);
  });

  it.each(['', 'whsec_', 'short', 'whsec_%', `whsec_${Buffer.alloc(23).toString('base64')}`])(
    'refuses the secret %j at its creation',
    (bad) => {
      expect(() => standardWebhook(bad)).toThrow(TypeError);
    },
  );
});
