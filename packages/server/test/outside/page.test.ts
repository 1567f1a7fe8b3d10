import { approval, memoryStore, saga, type SagaHost } from '@mcp-saga/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { completed, hostOf, suspended } from '../fixtures/host.ts';
import { base, day, OutsideCase, user } from './case.ts';

const Every = z.object({
  text: z.string().min(2).max(5).meta({ title: 'A <text>', description: 'Two to "five"' }),
  long: z.string().max(1000).optional(),
  mail: z.email().optional(),
  link: z.url().optional(),
  date: z.iso.date().optional(),
  time: z.iso.datetime({ offset: true }).optional(),
  amount: z.number().min(1).max(10).optional(),
  count: z.int().optional(),
  sure: z.boolean(),
  size: z.enum(['S', 'M']),
  colors: z
    .array(z.enum(['red', 'blue']))
    .min(1)
    .max(1)
    .optional(),
});

interface Asked {
  readonly host: SagaHost;
  readonly url: string;
  readonly decision: () => Promise<unknown>;
}

/** Asks by an approval whose link any user may use. */
async function asked(schema: z.ZodObject, message = 'Go?'): Promise<Asked> {
  const clock = testClock();
  let url = '';
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    const decision = yield* approval('go', {
      message,
      schema: schema as z.ZodObject<Record<string, never>>,
      link: 'accept',
      timeout: day,
      deliver: (delivery) => void (url = delivery.url),
    });
    return JSON.stringify(decision.answers[0]?.content);
  });
  const { host } = hostOf(asks, {
    clock,
    store: memoryStore({ clock }),
    url: base,
    limits: { maxHold: 0 },
  });
  const { token } = suspended(await host.start('asks', {}));
  const decision = async (): Promise<unknown> => {
    const { result } = completed(await host.resume(token)) as {
      result: { content: { text: string }[] };
    };
    return JSON.parse(typeof result === 'string' ? result : (result.content[0]?.text ?? 'null'));
  };
  return { host, url, decision };
}

type Fields = readonly (readonly [string, string])[];

function post({ host, url }: Asked, fields: Fields): Promise<Response> {
  const body = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]));
  return host.answer(new Request(url, { method: 'POST', body }));
}

const good: Fields = [
  ['f0', 'abc'],
  ['f2', 'ann@shop.example'],
  ['f3', 'https://shop.example/x'],
  ['f4', '2027-01-31'],
  ['f5', '2027-01-31T12:00:00+01:00'],
  ['f6', '1.5'],
  ['f7', ' 7 '],
  ['f8', 'true'],
  ['f9', 'M'],
  ['f10', 'red'],
];

describe('the answer page', () => {
  it('sends headers that keep the link secret, and forbid frames and scripts', async () => {
    const test = new OutsideCase();
    await test.start();
    const bad = `${base}/saga/answer/x`;
    const responses = [
      await test.get(user('ann')),
      await test.get(user('ann'), bad),
      await test.get(),
      await test.post(user('ann')),
      await test.post(user('ann')),
      await test.event({}, { url: `${base}/saga/event/x` }),
    ];
    for (const { headers } of responses) {
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'nonce-[0-9a-f-]{36}'; form-action 'self';/,
      );
      expect(policy).not.toContain('unsafe');
      expect(policy).not.toContain('script');
    }
  });

  it('has no script, no reference to another resource, and a name for each field', async () => {
    const test = await asked(Every);
    const text = await (await test.host.answer(new Request(test.url))).text();
    expect(text).not.toMatch(/<script|javascript:|onclick|src=|href=/i);
    const ids = [...text.matchAll(/<(?:input|select|textarea)\s[^>]*id="(\w+)"/g)].map(
      ([, id]) => id,
    );
    const labels = [...text.matchAll(/<label for="(\w+)"/g)].map(([, id]) => id);
    expect(ids.toSorted()).toEqual(labels.toSorted());
    expect(text).toContain('A &#60;text&#62;');
    expect(text).toContain('aria-describedby="f0-hint"');
    expect(text).toMatch(/<html lang="en" dir="auto">/);
    expect(text).toMatch(/<meta name="viewport"/);
  });

  it('reads each kind of field', async () => {
    const test = await asked(Every);
    expect((await post(test, [['decision', 'approve'], ...good])).status).toBe(200);
    expect(await test.decision()).toEqual({
      text: 'abc',
      mail: 'ann@shop.example',
      link: 'https://shop.example/x',
      date: '2027-01-31',
      time: '2027-01-31T12:00:00+01:00',
      amount: 1.5,
      count: 7,
      sure: true,
      size: 'M',
      colors: ['red'],
    });
  });

  it.each<[string, string]>([
    ['f0', ''],
    ['f0', 'a'],
    ['f0', 'abcdef'],
    ['f2', 'ann'],
    ['f3', 'shop'],
    ['f4', '2027-13-31'],
    ['f5', '2027-01-31'],
    ['f6', '0'],
    ['f6', '11'],
    ['f6', 'NaN'],
    ['f6', '1e999'],
    ['f7', '1.5'],
    ['f9', 'XL'],
    ['f9', ''],
    ['f10', 'green'],
  ])('asks again for the field %s with the value %j, and keeps the others', async (name, value) => {
    const test = await asked(Every);
    const fields = good.filter(([other]) => other !== name);
    const page = await post(test, [['decision', 'approve'], ...fields, [name, value]]);
    const text = await page.text();
    expect(page.status).toBe(422);
    expect(text).toContain('role="alert"');
    expect(text).toContain(`${name}-error`);
    expect(text).toContain(name === 'f3' ? 'ann@shop.example' : 'https://shop.example/x');
    expect((await post(test, [['decision', 'approve'], ...good])).status).toBe(200);
  });

  it('omits optional fields that were left empty, whatever their kind', async () => {
    const test = await asked(Every);
    const needed = new Set(['f0', 'f8', 'f9']);
    const fields = good.map(([name, value]): [string, string] => [
      name,
      needed.has(name) ? value : '',
    ]);
    expect((await post(test, [['decision', 'approve'], ['f1', ''], ...fields])).status).toBe(200);
    expect(await test.decision()).toEqual({ text: 'abc', sure: true, size: 'M' });
  });

  it('asks again for a required list that was left empty', async () => {
    const colors = z.array(z.enum(['red', 'blue'])).min(1);
    const test = await asked(z.object({ colors }));
    const approve: Fields = [['decision', 'approve']];
    expect((await post(test, approve)).status).toBe(422);
    expect((await post(test, [...approve, ['f0', 'red']])).status).toBe(200);
  });

  it.each(['f0', 'f6', 'f8', 'f9'])('names the field %s if it is sent twice', async (name) => {
    const test = await asked(Every);
    const [, value = ''] = good.find(([other]) => other === name) ?? [];
    for (const second of [value, 'x']) {
      const page = await post(test, [['decision', 'approve'], ...good, [name, second]]);
      expect([page.status, await page.text()]).toEqual([
        422,
        expect.stringContaining(`${name}-error`),
      ]);
    }
    expect((await post(test, [['decision', 'approve'], ...good])).status).toBe(200);
  });

  it('refuses a form with two decisions', async () => {
    const test = await asked(Every);
    for (const second of ['approve', 'deny', '']) {
      const fields: Fields = [['decision', 'approve'], ...good, ['decision', second]];
      expect((await post(test, fields)).status).toBe(400);
    }
  });

  it('needs no fields to deny', async () => {
    const test = await asked(Every);
    expect((await post(test, [['decision', 'deny']])).status).toBe(200);
  });

  it('refuses a form without a decision, and a form that is too large', async () => {
    const test = await asked(Every);
    expect((await post(test, good)).status).toBe(400);
    expect((await post(test, [['decision', 'maybe'], ...good])).status).toBe(400);
    expect(
      (
        await post(test, [
          ['decision', 'approve'],
          ['f1', 'x'.repeat(300_000)],
        ])
      ).status,
    ).toBe(413);
  });

  it('shows one button for a link with a decision', async () => {
    const test = await asked(Every);
    const textOf = async (query: string): Promise<string> =>
      await (await test.host.answer(new Request(test.url + query))).text();
    expect((await textOf('?decision=approve')).match(/<button[^>]*name=/g)).toHaveLength(1);
    expect(await textOf('?decision=deny')).toContain('Deny');
    expect((await textOf('')).match(/<button[^>]*name=/g)).toHaveLength(2);
    expect((await textOf('?decision=%3Cscript%3E')).match(/<button[^>]*name=/g)).toHaveLength(2);
  });

  it('shows messages, names, and posted values as text, whatever they contain', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom(
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        "' autofocus onfocus='x",
        '</textarea><b>',
        '&lt;',
      ),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (message, title, value) => {
        const test = await asked(
          z.object({ field: z.string().min(1000).meta({ title }) }),
          message,
        );
        const page = await post(test, [
          ['decision', 'approve'],
          ['f0', value],
        ]);
        const text = (await page.text()).replaceAll(
          /<\/?(?:html|head|meta|title|style|body|main|h1|div|p|bdi|dl|dt|dd|time|form|label|textarea|button|input)\b[^<>]*>|<!doctype html>/g,
          '',
        );
        expect(text).not.toMatch(/[<>]/);
      }),
      { numRuns: 40 },
    );
  });
});
