import { approval, memoryStore, saga, type SagaCaller } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { base, day, user } from './case.ts';

/** Text with a mark that turns the direction around, and a space without a width. */
const fake = (what: string): string => `${what} \u202e01\u202c\u200b`;

const shown = (what: string): string => `${what} \\u202e01\\u202c\\u200b`;

const starter: SagaCaller = { principal: { subject: fake('starter'), client: 'mcp' } };
const approver = user(fake('approver'));

const schema = z.object({
  text: z.string().meta({ title: fake('text'), description: fake('hint') }),
  remark: z
    .string()
    .optional()
    .meta({ title: fake('remark') }),
  sure: z.boolean().meta({ title: fake('sure') }),
  size: z.enum([fake('small'), fake('large')]).meta({ title: fake('size') }),
  parts: z.array(z.enum([fake('wheel'), fake('bell')])).meta({ title: fake('parts') }),
});

/** Starts a request whose every text is fake, and returns a function that visits its page. */
async function visitor() {
  const clock = testClock();
  const links: string[] = [];
  const refund = saga(
    { name: 'refund', version: '1', title: fake('request'), reuse: 'ok' },
    function* () {
      yield* approval('manager', {
        message: fake('message'),
        schema,
        timeout: day,
        deliver: ({ url }) => void links.push(url),
      });
      return 'refunded';
    },
  );
  const { host } = hostOf(refund, {
    clock,
    store: memoryStore({ clock }),
    url: base,
    page: { name: fake('service') },
    limits: { maxHold: 0 },
  });
  await host.start('refund', {}, { caller: starter });
  return async (caller: SagaCaller, posted?: readonly [string, string][]): Promise<string> => {
    const form = { method: 'POST', body: new URLSearchParams([...(posted ?? [])]) };
    const request = new Request(links[0] ?? '', posted === undefined ? {} : form);
    const response = await host.answer(request, { caller });
    const html = await response.text();
    // Values of inputs are for the server: they must stay what they are.
    return html.replaceAll(/ value="[^"]*"/g, '');
  };
}

function expectShown(html: string, texts: readonly string[]): void {
  expect(html).not.toMatch(/[\u202e\u202c\u200b]/);
  for (const text of texts) expect(html).toContain(`<bdi>${shown(text)}</bdi>`);
}

const facts = ['service', 'request', 'starter', 'approver'];

it('an answer page shows what nobody sees in any text of data of its form', async () => {
  const visit = await visitor();
  const html = await visit(approver);
  const labels = ['text', 'hint', 'remark', 'sure', 'size', 'parts', 'wheel', 'bell'];
  expectShown(html, ['message', ...labels, ...facts]);
  // An option has only text, which it isolates by itself.
  for (const option of ['small', 'large']) expect(html).toContain(`>${shown(option)}</option>`);
});

it('an answer page shows what nobody sees in any value that a person confirms', async () => {
  const visit = await visitor();
  const values: [string, string][] = [
    ['f0', fake('typed')],
    ['f1', fake('remarked')],
    ['f2', 'true'],
    ['f3', fake('small')],
    ['f4', fake('wheel')],
    ['f4', fake('bell')],
  ];
  const texts = ['message', 'typed', 'remarked', 'small', 'wheel', 'bell', ...facts];
  const labels = ['text', 'remark', 'sure', 'size', 'parts'];
  expectShown(await visit(approver, [...values, ['review', 'approve']]), [...texts, ...labels]);
  expectShown(await visit(approver, [...values, ['decision', 'approve']]), [...texts, ...labels]);
});

it('an answer page shows what nobody sees in the name of a person who may not answer', async () => {
  const visit = await visitor();
  expectShown(await visit(starter), ['starter']);
});
