import { approval, memoryStore, saga } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, suspended } from '../fixtures/host.ts';
import { base, day } from './case.ts';

const Refund = z.object({
  amount: z.number().max(100).meta({ title: 'Amount in €' }),
  reason: z.string().optional().meta({ title: 'Reason' }),
  speed: z.enum(['slow', 'fast']).meta({ title: 'Speed' }).optional(),
  teams: z.array(z.enum(['billing', 'support'])).optional(),
  notify: z.boolean().meta({ title: 'Notify the customer' }),
});

/** An answer page in a browser without scripts, and how many answers its store has stored. */
class Visit {
  html = '';
  status = 0;
  stored = 0;
  readonly #send: (request: Request) => Promise<Response>;
  readonly #url: string;

  constructor(url: string, send: (request: Request) => Promise<Response>) {
    this.#url = url;
    this.#send = send;
  }

  /** Opens the link, or posts fields. */
  async load(fields?: readonly (readonly [string, string])[], query = ''): Promise<void> {
    const body =
      fields && new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]));
    const response = await this.#send(
      new Request(this.#url + query, body === undefined ? {} : { method: 'POST', body }),
    );
    this.status = response.status;
    this.html = await response.text();
  }

  /** Fields as the page holds them: hidden inputs, and inputs with their values. */
  get fields(): readonly (readonly [string, string])[] {
    return [...this.html.matchAll(/<input\s[^>]*>/g)].flatMap(([tag]): [string, string][] => {
      const isUnchecked = tag.includes('checkbox') && !tag.includes(' checked');
      return isUnchecked ? [] : [[attribute(tag, 'name'), attribute(tag, 'value')]];
    });
  }

  /** Buttons of the form in their order. The first one is what Enter presses. */
  get buttons(): readonly { name: string; value: string; isDisabled: boolean }[] {
    return [...this.html.matchAll(/<button\s[^>]*>/g)].map(([tag]) => ({
      name: attribute(tag, 'name'),
      value: attribute(tag, 'value'),
      isDisabled: /\sdisabled/.test(tag),
    }));
  }

  get hasFocusableField(): boolean {
    return /<(?:select|textarea)|<input(?![^>]*type="hidden")/.test(this.html);
  }

  /** Presses the button with this name and value. */
  async press(
    name: string,
    value: string,
    more: readonly (readonly [string, string])[] = [],
  ): Promise<void> {
    const button = this.buttons.find((one) => one.name === name && one.value === value);
    if (button === undefined) throw new Error(`The page has no button ${name}=${value}`);
    const changed = new Set(more.map(([field]) => field));
    const kept = this.fields.filter(([field]) => !changed.has(field));
    await this.load([...kept, ...more, [name, value]]);
  }
}

function attribute(tag: string, name: string): string {
  const text = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

async function visit(schema: z.ZodObject = Refund, message = 'Refund?'): Promise<Visit> {
  const clock = testClock();
  let url = '';
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    yield* approval('go', {
      message,
      schema: schema as typeof Refund,
      link: 'accept',
      timeout: day,
      deliver: (delivery) => void (url = delivery.url),
    });
    return 'asked';
  });
  const honest = memoryStore({ clock });
  const { host } = hostOf(asks, {
    clock,
    store: {
      ...honest,
      append: (...given) => {
        made.stored += 1;
        return honest.append(...given);
      },
    },
    url: base,
    limits: { maxHold: 0 },
  });
  suspended(await host.start('asks', {}));
  const made = new Visit(url, (request) => host.answer(request));
  await made.load();
  return made;
}

const amount = [['f0', '10']] as const;

describe('an answer page', () => {
  it.each<[string, (page: Visit) => Promise<void>]>([
    ['the form', () => Promise.resolve()],
    ['a link to approve', (page) => page.load(undefined, '?decision=approve')],
    ['a link to deny', (page) => page.load(undefined, '?decision=deny')],
    ['the form with marked fields', (page) => page.press('review', 'approve', [['f0', '1000']])],
    [
      'the form that is changed again',
      async (page) => {
        await page.press('review', 'approve', amount);
        await page.press('review', 'edit');
      },
    ],
    ['the confirmation of an approval', (page) => page.press('review', 'approve', amount)],
    ['the confirmation of a denial', (page) => page.press('review', 'deny')],
  ])('has a page on which Enter never decides: %s', async (_, open) => {
    const page = await visit();
    await open(page);
    expect(page.status).toBeLessThan(500);
    const [first] = page.buttons;
    // Enter in a field presses the first button of the form, and does nothing if it is disabled.
    expect(page.hasFocusableField ? first?.isDisabled : true).toBe(true);
    // Chromium presses the next button in a date field.
    const enabled = page.buttons.find(({ isDisabled }) => !isDisabled);
    if (page.hasFocusableField && enabled !== undefined)
      await page.press(enabled.name, enabled.value, amount);
    expect(page.stored).toBe(0);
  });

  it.each(['approve', 'deny'])(
    'records after %s only what its confirmation has shown',
    async (decision) => {
      const page = await visit();
      await page.press('review', decision, [
        ['f0', '10.5'],
        ['f1', 'broken\nin <transit>'],
        ['f2', 'fast'],
        ['f3', 'billing'],
        ['f3', 'support'],
        ['f4', 'true'],
      ]);
      expect([page.status, page.stored, page.hasFocusableField]).toEqual([200, 0, false]);
      for (const text of [
        'Refund?',
        'Amount in €',
        '10.5',
        'broken\nin &#60;transit&#62;',
        'fast',
        'billing',
        'support',
        'Yes',
      ])
        expect(page.html).toContain(text);
      await page.press('decision', decision);
      expect([page.status, page.stored]).toEqual([200, 1]);
    },
  );

  it('says on its confirmation which fields are empty', async () => {
    const page = await visit();
    await page.press('review', 'approve', amount);
    expect(page.html.match(/>empty</g)).toHaveLength(3);
    expect(page.html).toMatch(/Notify the customer[^]*?>No</);
  });

  it('keeps all values for a change, and records the changed ones', async () => {
    const page = await visit();
    await page.press('review', 'approve', [...amount, ['f1', 'a & b']]);
    await page.press('review', 'edit');
    expect(page.hasFocusableField).toBe(true);
    expect(page.html).toContain('value="10"');
    expect(page.html).toContain('>a &#38; b</textarea>');
    expect(page.stored).toBe(0);
  });

  it('takes a decision and a review in one form as no decision', async () => {
    const page = await visit();
    for (const fields of [
      [
        ['decision', 'approve'],
        ['review', 'approve'],
      ],
      [
        ['review', 'approve'],
        ['review', 'deny'],
      ],
      [['review', 'maybe']],
      [['decision', 'edit']],
    ] as [string, string][][]) {
      await page.load([...amount, ...fields]);
      expect([page.status, page.stored]).toEqual([400, 0]);
    }
  });

  it('shows characters of data that nobody sees, and isolates the data, on each of its pages', async () => {
    const fake = (what: string): string => `${what} \u202e01 €\u202c${'\n'.repeat(40)}\u200bgone`;
    const schema = z.object({
      note: z.string().meta({ title: fake('title'), description: fake('hint') }),
      size: z.enum([fake('choice'), 'other']),
    });
    const page = await visit(schema, fake('message'));
    const texts = (): string => page.html.replaceAll(/ value="[^"]*"/g, '');
    const isolated = (what: string): RegExp =>
      new RegExp(`<bdi>${what} \\\\u202e01 €\\\\u202c\n\n\\\\u200bgone</bdi>`);
    expect(texts()).toMatch(isolated('message'));
    expect(texts()).toMatch(isolated('title'));
    expect(texts()).toMatch(isolated('hint'));
    expect(texts()).not.toMatch(/[\u202e\u200b]|\n{3}/);
    await page.press('review', 'approve', [
      ['f0', fake('typed')],
      ['f1', fake('choice')],
    ]);
    for (const what of ['message', 'title', 'typed', 'choice'])
      expect(texts()).toMatch(isolated(what));
    expect(texts()).not.toMatch(/[\u202e\u200b]|\n{3}/);
    await page.press('decision', 'approve');
    expect(page.stored).toBe(1);
    expect(texts()).toMatch(isolated('message'));
    expect(texts()).not.toMatch(/[\u202e\u200b]|\n{3}/);
  });
});
