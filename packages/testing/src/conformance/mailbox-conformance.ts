import type { Mailbox, PutBounds, PutResult, StoredAnswer } from '@mcp-saga/server/stores';
import { collectCases, hour, same, type ConformanceCase } from './conformance-case.ts';

/** A mailbox under test, and its clock. */
export interface MailboxUnderTest {
  readonly mailbox: Mailbox;
  /** Same store, as another process sees it. */
  readonly elsewhere: Mailbox;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Advances the clock of the store. */
  readonly pass: (ms: number) => Promise<void>;
}

const count = (results: readonly PutResult[], wanted: PutResult): number =>
  results.filter((result) => result === wanted).length;

/** Names that collide if a store joins, trims, folds, or normalizes them. */
// prettier-ignore
const names: readonly string[] = [
  '', ' ', 'a', 'a ', ' a', 'A', 'a:b', 'a}', '{a}', 'a{b}c', '0', '-1', '1', '01', '%', '%25', '%0061', '_', '*', '?',
  '\u0000', '\u0001', 'a\u0000', 'a\nb', 'a\tb', 'a\\nb', "'", '"', '`', '$1', ':a', '@a', '--', 'null',
  '__proto__', 'constructor', 'closed', 'NaN', '\u00E9', 'e\u0301', 'ß', 'ss', '🙂', '\u{1F600}\u200D', '\uFEFF',
  'x'.repeat(5_000), `${'x'.repeat(4_999)}y`, '€'.repeat(3_000),
];

/**
 * Returns the guarantees of every mailbox, as tests for any test runner.
 * @param make - makes an empty mailbox, for each test
 * @example
 * ```ts
 * import type { Mailbox } from '@mcp-saga/server/stores';
 * import { it } from 'vitest';
 *
 * declare function ownMailbox(options: { readonly clock: () => number }): Mailbox;
 *
 * const make = async () => {
 *   let time = 0;
 *   const mailbox = ownMailbox({ clock: () => time });
 *   return { mailbox, elsewhere: mailbox, now: () => time, pass: async (ms: number) => void (time += ms) };
 * };
 * for (const { title, run } of mailboxConformance(make)) it(title, run);
 * ```
 */
export function mailboxConformance(
  make: () => Promise<MailboxUnderTest>,
): readonly ConformanceCase[] {
  const { cases, test } = collectCases(async () => {
    const made = await make();
    const bounds = (change: Partial<PutBounds> = {}): PutBounds => ({
      expiresAt: made.now() + hour,
      maxAnswers: 10,
      ...change,
    });
    const put = async (box: string, slot: string, sealed: string, change?: Partial<PutBounds>) =>
      await made.mailbox.put(box, slot, sealed, bounds(change));
    return { ...made, bounds, put };
  });

  test('lists the answers of a box in the order of their puts', async (made) => {
    const { mailbox, elsewhere, bounds, put } = made;
    same(await mailbox.list('a'), { answers: [], isClosed: false });
    const answers = ['zoe', 'ada', 'eve'].map((slot) => ({ slot, sealed: `by ${slot}` }));
    for (const [index, { slot, sealed }] of answers.entries()) {
      const by = index % 2 === 0 ? mailbox : elsewhere;
      same(await by.put('a', slot, sealed, bounds()), 'stored');
    }
    await put('b', 'ada', 'other box');
    same(await elsewhere.list('a'), { answers, isClosed: false });
    same(await elsewhere.list('b'), {
      answers: [{ slot: 'ada', sealed: 'other box' }],
      isClosed: false,
    });
  });

  test('keeps the first answer in a slot', async ({ mailbox, elsewhere, bounds, put }) => {
    same(await put('a', 'ada', 'yes'), 'stored');
    same(await elsewhere.put('a', 'ada', 'no', bounds()), 'taken');
    same(await mailbox.list('a'), { answers: [{ slot: 'ada', sealed: 'yes' }], isClosed: false });
  });

  test('stores one of many concurrent answers for a slot', async ({
    mailbox,
    elsewhere,
    bounds,
  }) => {
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        (index % 2 === 0 ? mailbox : elsewhere).put('a', 'ada', `answer ${index}`, bounds()),
      ),
    );
    same([count(results, 'stored'), count(results, 'taken')], [1, 39]);
    const sealed = `answer ${results.indexOf('stored')}`;
    same((await elsewhere.list('a')).answers, [{ slot: 'ada', sealed }]);
  });

  test('refuses answers beyond the limit of a box, and still says that a slot is taken', async (made) => {
    const { mailbox, put } = made;
    same(await put('a', 'ada', 'one', { maxAnswers: 2 }), 'stored');
    same(await put('a', 'eve', 'two', { maxAnswers: 2 }), 'stored');
    same(await put('a', 'zoe', 'three', { maxAnswers: 2 }), 'full');
    same(await put('a', 'ada', 'again', { maxAnswers: 2 }), 'taken');
    same((await mailbox.list('a')).answers.length, 2);
    same(await put('b', 'zoe', 'three', { maxAnswers: 1 }), 'stored');
    same(await put('b', 'ada', 'one', { maxAnswers: 1 }), 'full');
    same(await put('a', 'zoe', 'three', { maxAnswers: Number.MAX_SAFE_INTEGER }), 'stored');
  });

  test('stores exactly the limit of 200 concurrent answers', async ({
    mailbox,
    elsewhere,
    bounds,
  }) => {
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, index) =>
        (index % 2 === 0 ? mailbox : elsewhere).put(
          'a',
          `slot ${index}`,
          `answer ${index}`,
          bounds({ maxAnswers: 7 }),
        ),
      ),
    );
    same([count(results, 'stored'), count(results, 'full')], [7, 193]);
    const stored = results.flatMap((result, index) =>
      result === 'stored' ? [`answer ${index}`] : [],
    );
    const { answers } = await elsewhere.list('a');
    same(answers.map(({ sealed }) => sealed).toSorted(), stored.toSorted());
    same(await mailbox.list('a'), { answers, isClosed: false });
  });

  test('removes answers, so that others find room, and keeps the order of the rest', async (made) => {
    const { mailbox, elsewhere, put } = made;
    const answers = ['zoe', 'ada', 'eve'].map((slot) => ({ slot, sealed: `by ${slot}` }));
    const [zoe, ada, eve] = answers as [StoredAnswer, StoredAnswer, StoredAnswer];
    for (const { slot, sealed } of answers)
      same(await put('a', slot, sealed, { maxAnswers: 3 }), 'stored');
    same(await put('a', 'bob', 'by bob', { maxAnswers: 3 }), 'full');
    await elsewhere.remove('a', [zoe, { ...ada, sealed: 'another answer' }]);
    same(await mailbox.list('a'), { answers: [ada, eve], isClosed: false });
    same(await put('a', 'zoe', 'again', { maxAnswers: 3 }), 'stored');
    same(await put('a', 'bob', 'by bob', { maxAnswers: 3 }), 'full');
    const again = { slot: 'zoe', sealed: 'again' };
    same(await elsewhere.list('a'), { answers: [ada, eve, again], isClosed: false });
    await mailbox.remove('a', [eve, eve, zoe, ada, again]);
    same(await elsewhere.list('a'), { answers: [], isClosed: false });
    same(await put('a', 'eve', 'by eve', { maxAnswers: 1 }), 'stored');
    same(await mailbox.list('a'), { answers: [eve], isClosed: false });
  });

  test('removes nothing from an unknown box, and opens no closed one', async (made) => {
    const { mailbox, elsewhere, now, put } = made;
    await mailbox.remove('a', [{ slot: 'ada', sealed: 'yes' }]);
    same(await elsewhere.list('a'), { answers: [], isClosed: false });
    same(await put('a', 'ada', 'yes', { maxAnswers: 1 }), 'stored');
    await mailbox.remove('a', []);
    await mailbox.close('a', now() + hour);
    await mailbox.remove('a', [{ slot: 'ada', sealed: 'yes' }]);
    same(await elsewhere.list('a'), { answers: [], isClosed: true });
    same(await put('a', 'eve', 'late'), 'closed');
  });

  test('removes many answers of any characters in one call', async ({ mailbox, put }) => {
    const answers = names.map((slot) => ({ slot, sealed: `by ${slot}` }));
    for (const { slot, sealed } of answers)
      same(await put('a', slot, sealed, { maxAnswers: names.length }), 'stored');
    const [first, ...others] = answers;
    await mailbox.remove('a', others);
    same(await mailbox.list('a'), { answers: [first], isClosed: false });
    same(await put('a', 'ada', 'one more', { maxAnswers: 2 }), 'stored');
  });

  test('refuses answers to a closed box, and keeps the stored ones', async (made) => {
    const { mailbox, elsewhere, now, put } = made;
    await put('a', 'ada', 'yes');
    await elsewhere.close('a', now() + hour);
    same(await put('a', 'eve', 'late'), 'closed');
    same(await put('a', 'ada', 'late'), 'taken');
    const closed = { answers: [{ slot: 'ada', sealed: 'yes' }], isClosed: true };
    same(await mailbox.list('a'), closed);
    await mailbox.close('a', now() + hour);
    same(await elsewhere.list('a'), closed);
    same(await put('b', 'eve', 'in time'), 'stored');
  });

  test('closes a box without answers', async ({ mailbox, elsewhere, now, put }) => {
    await mailbox.close('a', now() + hour);
    same(await elsewhere.list('a'), { answers: [], isClosed: true });
    same(await put('a', 'ada', 'late'), 'closed');
    same(await mailbox.list('a'), { answers: [], isClosed: true });
  });

  test('stores no answer after a concurrent close', async ({ mailbox, elsewhere, now, bounds }) => {
    const puts = Array.from({ length: 20 }, async (_, index) =>
      (index % 2 === 0 ? mailbox : elsewhere).put(
        'a',
        `slot ${index}`,
        'x',
        bounds({ maxAnswers: 100 }),
      ),
    );
    await elsewhere.close('a', now() + hour);
    const atClose = await mailbox.list('a');
    const results = await Promise.all(puts);
    same(await elsewhere.list('a'), atClose);
    same(atClose.isClosed, true);
    same(
      [count(results, 'stored'), count(results, 'closed')],
      [atClose.answers.length, 20 - atClose.answers.length],
    );
  });

  test('removes a box at the latest expiry of its answers', async ({ mailbox, now, pass, put }) => {
    await put('a', 'ada', 'one', { expiresAt: now() + 2 * hour });
    await put('a', 'eve', 'two', { expiresAt: now() + hour });
    await put('b', 'ada', 'one', { expiresAt: now() + hour });
    await put('b', 'eve', 'two', { expiresAt: now() + 2 * hour });
    await pass(1.5 * hour);
    same((await mailbox.list('a')).answers.length, 2);
    same((await mailbox.list('b')).answers.length, 2);
    await pass(hour);
    same(await mailbox.list('a'), { answers: [], isClosed: false });
    same(await put('a', 'ada', 'anew'), 'stored');
    same(await mailbox.list('a'), { answers: [{ slot: 'ada', sealed: 'anew' }], isClosed: false });
  });

  test('keeps a box closed until the time of the close, and its answers as long', async (made) => {
    const { mailbox, now, pass, put } = made;
    await put('a', 'ada', 'one', { expiresAt: now() + hour });
    await mailbox.close('a', now() + 2 * hour);
    await mailbox.close('b', now() + 2 * hour);
    await put('c', 'ada', 'one', { expiresAt: now() + 2 * hour });
    await mailbox.close('c', now() + hour);
    await pass(1.5 * hour);
    const closed = { answers: [{ slot: 'ada', sealed: 'one' }], isClosed: true };
    same(await mailbox.list('a'), closed);
    same(await mailbox.list('b'), { answers: [], isClosed: true });
    same(await mailbox.list('c'), closed);
    await pass(hour);
    same(await mailbox.list('a'), { answers: [], isClosed: false });
    same(await put('b', 'ada', 'anew'), 'stored');
  });

  test('distinguishes boxes and slots with any characters', async ({ mailbox, elsewhere, put }) => {
    await Promise.all(
      names.map(async (name) => {
        same(await put(name, name, `to ${name}`), 'stored');
        same(await mailbox.list(name), {
          answers: [{ slot: name, sealed: `to ${name}` }],
          isClosed: false,
        });
      }),
    );
    const answers = names.map((slot) => ({ slot, sealed: `by ${slot}` }));
    for (const { slot, sealed } of answers) {
      same(await put('every slot', slot, sealed, { maxAnswers: names.length }), 'stored');
    }
    same(await put('every slot', 'a', 'again'), 'taken');
    same(await elsewhere.list('every slot'), { answers, isClosed: false });
  });

  test('stores sealed text unchanged: empty, long, or outside of ASCII', async ({
    mailbox,
    put,
  }) => {
    const sealed = ['', `${'x'.repeat(1_000_000)} \u0000 € 🙂`, '{"a":1}', '1e3', 'null', 'OK'];
    for (const [index, one] of sealed.entries()) {
      same(await put('a', `slot ${index}`, one), 'stored');
    }
    same(
      (await mailbox.list('a')).answers.map((answer) => answer.sealed),
      sealed,
    );
  });

  test('holds many answers in one box', async ({ mailbox, put }) => {
    const answers = Array.from({ length: 120 }, (_, index) => ({
      slot: `${index}`,
      sealed: `answer ${index}`,
    }));
    for (const { slot, sealed } of answers) {
      same(await put('a', slot, sealed, { maxAnswers: 120 }), 'stored');
    }
    same(await put('a', 'one more', 'x', { maxAnswers: 120 }), 'full');
    same(await mailbox.list('a'), { answers, isClosed: false });
  });
  return cases;
}
