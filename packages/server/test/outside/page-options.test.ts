import {
  createSagaHost,
  memoryStore,
  type SagaStore,
  type SagaHostOptions,
} from '@mcp-saga/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defaultPageWords } from '../../src/model/page-words.ts';
import { testClock } from '../fixtures/clock.ts';
import { newKey, suspended } from '../fixtures/host.ts';
import { base, caller, Comment, day, OutsideCase, user } from './case.ts';

type Page = NonNullable<SagaHostOptions['page']>;
type Word = keyof typeof defaultPageWords;
type CaseOptions = ConstructorParameters<typeof OutsideCase>[0];

const names = Object.keys(defaultPageWords) as Word[];
const data = 'data:image/png;base64,iVBORw0KGgo=';
const ann = user('ann');

/** A host whose pages have options, with a store that may be changed. */
function caseOf(page: Page, options: CaseOptions = {}, changes: Partial<SagaStore> = {}) {
  const clock = testClock();
  const store = { ...memoryStore({ clock }), ...changes };
  return new OutsideCase(options, { clock, store, url: base, page });
}

async function started(...parts: Parameters<typeof caseOf>) {
  const test = caseOf(...parts);
  return { test, turn: await test.start() };
}

/** Creates a host with an option of its pages. */
function create(page: unknown): void {
  const options = { url: base, store: memoryStore(), page: page as never };
  createSagaHost({ sagas: [], name: 'shop', keys: newKey, ...options });
}

describe('the options of answer pages', () => {
  it.each<[string, unknown, string]>([
    ['a text instead of options', 'Shop', 'page'],
    ['a blank name', { name: ' ' }, 'page.name'],
    ['a name that is a number', { name: 1 }, 'page.name'],
    ['a language with a space', { lang: 'de de' }, 'page.lang'],
    ['an empty language', { lang: '' }, 'page.lang'],
    ['a list of words', { words: ['Ja'] }, "has no text '0'"],
    ['no words', { words: null }, 'page.words'],
    ['an unknown word', { words: { aprove: 'Ja' } }, "Did you mean 'approve'?"],
    ['a word of all objects', { words: { toString: 'Ja' } }, "has no text 'toString'"],
    ['a blank word', { words: { approve: ' ' } }, 'page.words.approve'],
    ['a word without a value', { words: { approve: undefined } }, 'page.words.approve'],
    ['a word that is a function', { words: { approve: () => 'Ja' } }, 'page.words.approve'],
    ['a missing place', { words: { recorded: 'Am Montag' } }, '{time}'],
    ['a misspelled place', { words: { recorded: 'Am {tiem}' } }, '{time}'],
    ['a place in a text without values', { words: { approve: 'Ja, {user}' } }, 'no {value}'],
    ...[
      '',
      1,
      'logo.png',
      '//cdn.shop.example/logo.png',
      'http://cdn.shop.example/logo.png',
      'javascript:alert(1)',
      'https://cdn.shop.example',
      'https://cdn.shop.example/',
      'https://cdn.shop.example/logos/',
      'https://*.example/logo.png',
      'https://ann:secret@cdn.shop.example/logo.png',
      'https://cdn.shop.example/logo.png?v=1',
      'https://cdn.shop.example/logo.png#x',
      'https://cdn.shop.example/a/../logo.png',
      "https://cdn.shop.example/logo.png; script-src 'unsafe-inline'",
      'https://cdn.shop.example/logo.png,https:',
      'https://cdn.shop.example/logo.png https:',
      'data:text/html,x',
      'data:image/png',
      'data:image/svg+xml,<svg onload="x">',
    ].map((url): [string, unknown, string] => [
      `the logo ${JSON.stringify(url)}`,
      { logo: url },
      'page.logo',
    ]),
  ])('are refused at the start with %s', (_, page, message) => {
    expect(() => create(page)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });

  it('are refused at the start with an unknown option, which the error names', () => {
    expect(() => create({ titel: 'Shop' })).toThrow(
      expect.objectContaining({
        code: 'unknown_option',
        message: expect.stringContaining('page.titel'),
      }),
    );
  });

  it.each([
    ['https://cdn.shop.example/logo.png', 'https://cdn.shop.example/logo.png'],
    ['https://cdn.shop.example:8443/a/b%2Cc.svg', 'https://cdn.shop.example:8443/a/b%2Cc.svg'],
    [data, 'data:'],
    ['data:image/svg+xml,%3Csvg%3E%3C/svg%3E', 'data:'],
  ])('show the logo %s, which the policy of the page allows alone', async (url, source) => {
    const { test } = await started({ name: 'The "shop"', logo: url });
    for (const page of [
      await test.get(ann),
      await test.get(),
      await test.get(ann, `${base}/saga/answer/x`),
    ]) {
      const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
      expect(policy.filter((part) => !part.startsWith('style-src'))).toEqual([
        "default-src 'none'",
        `img-src ${source}`,
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      const images = (await page.text()).match(/<img\s[^>]*>/g);
      expect(images).toEqual([`<img src="${url}" alt="The &#34;shop&#34;" />`]);
    }
  });

  it('allow no image on a page without a logo', async () => {
    const { test } = await started({ name: 'Shop' });
    const page = await test.get(ann);
    expect(page.headers.get('content-security-policy')).not.toContain('img-src');
    expect(await page.text()).not.toContain('<img');
  });

  it('name the service and the language, in place of the audience and English', async () => {
    const { test } = await started({ name: 'Laden & Söhne', lang: 'de-AT' });
    for (const page of [await test.get(ann), await test.get()]) {
      const html = await page.text();
      expect(html).toContain('<html lang="de-AT"');
      expect(html).toContain('Laden &#38; Söhne');
      expect(html).not.toContain('deployer');
    }
  });

  it('escape each word, whatever it contains', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Word>('decisionNeeded', 'approve', 'request', 'optional', 'time'),
        fc.constantFrom('<script>x</script>', '"><img src=x>', '&lt;b&gt;', '{', "'{{}}'"),
        async (name, text) => {
          const [place = ''] = /\{\w+\}/.exec(defaultPageWords[name]) ?? [];
          const { test } = await started({ words: { [name]: `${text}${place}` } });
          const html = await (await test.get(ann)).text();
          expect(html).not.toMatch(/<script|<img|&lt;/);
          const escaped = text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
          expect(html).toContain(escaped);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('put no value into text that a person or a saga wrote', async () => {
    const { test } = await started({}, { message: 'Refund {time} {user}?' });
    expect(await (await test.get(user('{service}'))).text()).toMatch(
      /Refund \{time\} \{user\}\?[^]*\{service\}/,
    );
  });
});

// Each word is a marker with its name, and the places of its default.
const words = Object.fromEntries(
  Object.entries(defaultPageWords).map(([name, text]) => [
    name,
    `⟦${name} ${text.match(/\{\w+\}/g)?.join(' ') ?? ''}⟧`,
  ]),
);

const Every = z.object({
  text: z.string().min(2).max(5),
  mail: z.email().optional(),
  link: z.url().optional(),
  date: z.iso.date().optional(),
  time: z.iso.datetime({ offset: true }).optional(),
  amount: z.number().min(1).max(10).optional(),
  count: z.int().optional(),
  sure: z.boolean(),
  again: z.boolean(),
  size: z.enum(['S', 'M']),
  colors: z
    .array(z.enum(['red', 'green', 'blue']))
    .min(2)
    .max(2)
    .optional(),
  note: z.string().optional(),
});
const good = { f0: 'abc', f7: 'true', f9: 'M' };

/** Responses of each kind of page, with all words replaced. */
async function allPages(): Promise<readonly Response[]> {
  const pages: Response[] = [];
  const add = async (page: Promise<Response>): Promise<void> => void pages.push(await page);
  const opened = (options: CaseOptions = {}, changes: Partial<SagaStore> = {}) =>
    started({ words }, options, changes);

  const { test } = await opened({ schema: Every as never });
  const send = (fields: string, init: RequestInit = {}): Promise<Response> =>
    test.test.host.answer(
      new Request(test.url(), { method: 'POST', body: new URLSearchParams(fields), ...init }),
      { caller: ann },
    );
  await add(test.get(ann));
  await add(test.get());
  await add(test.get(caller));
  await add(test.get(ann, test.url(), 'DELETE'));
  await add(test.get(ann, `${base}/saga/answer/x`));
  await add(
    test.post(ann, { decision: 'approve' }, { headers: { origin: 'https://evil.example' } }),
  );
  await add(send('f0=abc'));
  await add(send(`decision=approve&f0=abc&f11=${'x'.repeat(40_000)}`));
  await add(send(`decision=approve&f11=${'x'.repeat(400_000)}`));
  for (const fields of [
    'f1=ann&f2=shop&f3=2027-13-31&f4=2027-01-31&f5=0&f6=1.5&f7=true&f7=true&f9=XL&f10=red',
    'f0=a&f5=11&f10=red&f10=green&f10=blue',
    'f0=abcdef&f5=many&f9=S&f9=M',
  ])
    await add(send(`decision=approve&${fields}`));
  await add(test.post(ann, { review: 'approve', ...good }));
  await add(test.post(ann, { review: 'deny', ...good }));
  await add(test.post(ann, { review: 'edit', ...good }));
  await add(test.post(ann, { decision: 'approve', ...good }));

  const denied = await opened();
  await add(denied.test.post(ann, { decision: 'deny' }));
  denied.test.sent.length = 0;
  await denied.test.test.host.start('refund', {}, { caller: 'anonymous' });
  await add(denied.test.get(ann));
  await denied.test.resume(denied.turn);

  const decided = await opened();
  await decided.test.post(user('eve'));
  await decided.test.resume(decided.turn);
  await add(decided.test.get(ann));
  await add(decided.test.post(ann));

  const used = await opened({ link: 'accept', of: 2, to: ['ann', 'bob'] });
  await add(used.test.get());
  await used.test.post(ann);
  await add(used.test.get());

  // Whoever opens an answered link may be somebody else.
  for (const decision of ['approve', 'deny']) {
    const { test: passedOn } = await opened({ link: 'accept' });
    await passedOn.post(undefined, { decision });
    await add(passedOn.get());
  }

  const late = await opened();
  late.test.clock.now += 2 * day;
  await add(late.test.get(ann));
  await add(late.test.post(ann));

  const withdrawn = await opened({ of: 2 });
  await withdrawn.test.post(ann);
  await withdrawn.test.test.host.cancel(withdrawn.turn.token, { caller });
  await add(withdrawn.test.get(ann));
  await add(withdrawn.test.get(user('bob')));

  const refused = Comment.refine(({ comment }) => comment !== 'bad');
  const outdated = await opened({ schema: refused });
  await outdated.test.post(ann, { decision: 'approve', f0: 'bad' });
  suspended(await outdated.test.resume(outdated.turn));
  await add(outdated.test.get(ann));
  await add(outdated.test.post(user('bob')));

  const full = await opened({ of: 256 });
  await add(full.test.post(user('n'.repeat(2_000))));

  const list = (): never => {
    throw new Error('down');
  };
  const down = await opened({}, { list });
  await add(down.test.get(ann));
  return pages;
}

/** Text that a person reads on a page, without what comes from data. */
function ownText(html: string): string {
  return html
    .replaceAll(/<(style|bdi|option|textarea)\b[^>]*>[^]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .trim();
}

describe('the words of answer pages', () => {
  it('leave no default text on any kind of page, and each is on one', async () => {
    const pages = await Promise.all((await allPages()).map((page) => page.text()));
    for (const page of pages) {
      let rest = ownText(page);
      expect(rest).toContain('⟦');
      // A marker may hold another one, such as a time.
      for (let before = ''; before !== rest;) {
        before = rest;
        rest = rest.replaceAll(/⟦[^⟦⟧]*⟧/g, '');
      }
      expect(rest.trim()).toBe('');
    }
    const all = pages.join('');
    expect(names.filter((name) => !all.includes(`⟦${name} `))).toEqual([]);
  });

  it('are replaced one by one, and the others keep their defaults', async () => {
    const { test } = await started({ words: { approve: 'Genehmigen' } });
    const html = await (await test.get(ann)).text();
    expect(html).toContain('>Genehmigen</button>');
    expect(html).toContain('>Deny</button>');
  });
});
