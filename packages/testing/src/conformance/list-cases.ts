import type { Appended, AppendOptions, ListedValue } from '@mcp-saga/server/stores';
import { collectCases, hour, minute, same, type ConformanceCase } from './conformance-case.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const count = (results: readonly Appended[], wanted: Appended): number =>
  results.filter((result) => result === wanted).length;

/** Names that collide if a store joins, trims, folds, or normalizes them. */
// prettier-ignore
const names: readonly string[] = [
  '', ' ', 'a', 'a ', ' a', 'A', 'a:b', 'a}', '{a}', 'a{b}c', '0', '-1', '1', '01', '%', '%25', '%0061', '_', '*', '?',
  '\u0000', '\u0001', 'a\u0000', 'a\nb', 'a\tb', 'a\\nb', "'", '"', '`', '$1', ':a', '@a', '--', 'null',
  '__proto__', 'constructor', 'closed', 'NaN', '\u00E9', 'e\u0301', 'ß', 'ss', '🙂', '\u{1F600}\u200D', '\uFEFF',
  'x'.repeat(5_000), `${'x'.repeat(4_999)}y`, '€'.repeat(3_000),
];

/** Guarantees of the lists of a store. */
export function listCases(make: () => Promise<StoreUnderTest>): readonly ConformanceCase[] {
  const { cases, test } = collectCases(async () => {
    const made = await make();
    const bounds = (change: Partial<AppendOptions> = {}): AppendOptions => ({
      expiresAtMs: made.now() + hour,
      maxValues: 10,
      ...change,
    });
    const put = async (
      group: string,
      name: string,
      value: string,
      change?: Partial<AppendOptions>,
    ): Promise<Appended> => await made.store.append({ group, name }, value, bounds(change));
    return { ...made, bounds, put };
  });

  test('lists values in the order of their additions', async (made) => {
    const { store, elsewhere, bounds, put } = made;
    same(await store.list('a'), { values: [], isClosed: false });
    const values = ['zoe', 'ada', 'eve'].map((name) => ({ name, value: `by ${name}` }));
    for (const [index, { name, value }] of values.entries()) {
      const by = index % 2 === 0 ? store : elsewhere;
      same(await by.append({ group: 'a', name: name }, value, bounds()), 'added');
    }
    await put('b', 'ada', 'other list');
    same(await elsewhere.list('a'), { values, isClosed: false });
    same(await elsewhere.list('b'), {
      values: [{ name: 'ada', value: 'other list' }],
      isClosed: false,
    });
  });

  test('keeps the first value of a name in a list', async ({ store, elsewhere, bounds, put }) => {
    same(await put('a', 'ada', 'yes'), 'added');
    same(await elsewhere.append({ group: 'a', name: 'ada' }, 'no', bounds()), 'taken');
    same(await store.list('a'), { values: [{ name: 'ada', value: 'yes' }], isClosed: false });
  });

  test('adds one of many concurrent values of a name to a list', async ({
    store,
    elsewhere,
    bounds,
  }) => {
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        (index % 2 === 0 ? store : elsewhere).append(
          { group: 'a', name: 'ada' },
          `value ${index}`,
          bounds(),
        ),
      ),
    );
    same([count(results, 'added'), count(results, 'taken')], [1, 39]);
    const value = `value ${results.indexOf('added')}`;
    same((await elsewhere.list('a')).values, [{ name: 'ada', value }]);
  });

  test('refuses values beyond the limit of a list, and still says that a name is taken', async (made) => {
    const { store, put } = made;
    same(await put('a', 'ada', 'one', { maxValues: 2 }), 'added');
    same(await put('a', 'eve', 'two', { maxValues: 2 }), 'added');
    same(await put('a', 'zoe', 'three', { maxValues: 2 }), 'full');
    same(await put('a', 'ada', 'again', { maxValues: 2 }), 'taken');
    same((await store.list('a')).values.length, 2);
    same(await put('b', 'zoe', 'three', { maxValues: 1 }), 'added');
    same(await put('b', 'ada', 'one', { maxValues: 1 }), 'full');
    same(await put('a', 'zoe', 'three', { maxValues: Number.MAX_SAFE_INTEGER }), 'added');
  });

  test('adds exactly the limit of 200 concurrent values to a list', async ({
    store,
    elsewhere,
    bounds,
  }) => {
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, index) =>
        (index % 2 === 0 ? store : elsewhere).append(
          { group: 'a', name: `name ${index}` },
          `value ${index}`,
          bounds({ maxValues: 7 }),
        ),
      ),
    );
    same([count(results, 'added'), count(results, 'full')], [7, 193]);
    const stored = results.flatMap((result, index) =>
      result === 'added' ? [`value ${index}`] : [],
    );
    const { values } = await elsewhere.list('a');
    same(values.map(({ value }) => value).toSorted(), stored.toSorted());
    same(await store.list('a'), { values, isClosed: false });
  });

  test('discards values, so that others find room, and keeps the order of the rest', async (made) => {
    const { store, elsewhere, put } = made;
    const values = ['zoe', 'ada', 'eve'].map((name) => ({ name, value: `by ${name}` }));
    const [zoe, ada, eve] = values as [ListedValue, ListedValue, ListedValue];
    for (const { name, value } of values)
      same(await put('a', name, value, { maxValues: 3 }), 'added');
    same(await put('a', 'bob', 'by bob', { maxValues: 3 }), 'full');
    await elsewhere.discard('a', [zoe, { ...ada, value: 'another value' }]);
    same(await store.list('a'), { values: [ada, eve], isClosed: false });
    same(await put('a', 'zoe', 'again', { maxValues: 3 }), 'added');
    same(await put('a', 'bob', 'by bob', { maxValues: 3 }), 'full');
    const again = { name: 'zoe', value: 'again' };
    same(await elsewhere.list('a'), { values: [ada, eve, again], isClosed: false });
    await store.discard('a', [eve, eve, zoe, ada, again]);
    same(await elsewhere.list('a'), { values: [], isClosed: false });
    same(await put('a', 'eve', 'by eve', { maxValues: 1 }), 'added');
    same(await store.list('a'), { values: [eve], isClosed: false });
  });

  test('discards nothing from an unknown list, and opens no closed one', async (made) => {
    const { store, elsewhere, now, put } = made;
    await store.discard('a', [{ name: 'ada', value: 'yes' }]);
    same(await elsewhere.list('a'), { values: [], isClosed: false });
    same(await put('a', 'ada', 'yes', { maxValues: 1 }), 'added');
    await store.discard('a', []);
    await store.close('a', now() + hour);
    await store.discard('a', [{ name: 'ada', value: 'yes' }]);
    same(await elsewhere.list('a'), { values: [], isClosed: true });
    same(await put('a', 'eve', 'late'), 'closed');
  });

  test('discards many values of any characters in one call', async ({ store, put }) => {
    const values = names.map((name) => ({ name, value: `by ${name}` }));
    for (const { name, value } of values)
      same(await put('a', name, value, { maxValues: names.length }), 'added');
    const [first, ...others] = values;
    await store.discard('a', others);
    same(await store.list('a'), { values: [first], isClosed: false });
    same(await put('a', 'ada', 'one more', { maxValues: 2 }), 'added');
  });

  test('adds no value to a closed list, and keeps the stored ones', async (made) => {
    const { store, elsewhere, now, put } = made;
    await put('a', 'ada', 'yes');
    await elsewhere.close('a', now() + hour);
    same(await put('a', 'eve', 'late'), 'closed');
    same(await put('a', 'ada', 'late'), 'taken');
    const closed = { values: [{ name: 'ada', value: 'yes' }], isClosed: true };
    same(await store.list('a'), closed);
    await store.close('a', now() + hour);
    same(await elsewhere.list('a'), closed);
    same(await put('b', 'eve', 'in time'), 'added');
  });

  test('closes an empty list', async ({ store, elsewhere, now, put }) => {
    await store.close('a', now() + hour);
    same(await elsewhere.list('a'), { values: [], isClosed: true });
    same(await put('a', 'ada', 'late'), 'closed');
    same(await store.list('a'), { values: [], isClosed: true });
  });

  test('adds no value after a concurrent close', async ({ store, elsewhere, now, bounds }) => {
    const puts = Array.from({ length: 20 }, async (_, index) =>
      (index % 2 === 0 ? store : elsewhere).append(
        { group: 'a', name: `name ${index}` },
        'x',
        bounds({ maxValues: 100 }),
      ),
    );
    await elsewhere.close('a', now() + hour);
    const atClose = await store.list('a');
    const results = await Promise.all(puts);
    same(await elsewhere.list('a'), atClose);
    same(atClose.isClosed, true);
    same(
      [count(results, 'added'), count(results, 'closed')],
      [atClose.values.length, 20 - atClose.values.length],
    );
  });

  test('forgets a list at the latest expiry of its values', async ({ store, now, pass, put }) => {
    await put('a', 'ada', 'one', { expiresAtMs: now() + 2 * hour });
    await put('a', 'eve', 'two', { expiresAtMs: now() + hour });
    await put('b', 'ada', 'one', { expiresAtMs: now() + hour });
    await put('b', 'eve', 'two', { expiresAtMs: now() + 2 * hour });
    await pass(1.5 * hour);
    same((await store.list('a')).values.length, 2);
    same((await store.list('b')).values.length, 2);
    await pass(hour);
    same(await store.list('a'), { values: [], isClosed: false });
    same(await put('a', 'ada', 'anew'), 'added');
    same(await store.list('a'), { values: [{ name: 'ada', value: 'anew' }], isClosed: false });
  });

  test('keeps a list closed until the time of the close, and its values as long', async (made) => {
    const { store, now, pass, put } = made;
    await put('a', 'ada', 'one', { expiresAtMs: now() + hour });
    await store.close('a', now() + 2 * hour);
    await store.close('b', now() + 2 * hour);
    await put('c', 'ada', 'one', { expiresAtMs: now() + 2 * hour });
    await store.close('c', now() + hour);
    await pass(1.5 * hour);
    const closed = { values: [{ name: 'ada', value: 'one' }], isClosed: true };
    same(await store.list('a'), closed);
    same(await store.list('b'), { values: [], isClosed: true });
    same(await store.list('c'), closed);
    await pass(hour);
    same(await store.list('a'), { values: [], isClosed: false });
    same(await put('b', 'ada', 'anew'), 'added');
  });

  test('distinguishes lists and values with any characters in their names', async ({
    store,
    elsewhere,
    put,
  }) => {
    await Promise.all(
      names.map(async (name) => {
        same(await put(name, name, `to ${name}`), 'added');
        same(await store.list(name), {
          values: [{ name: name, value: `to ${name}` }],
          isClosed: false,
        });
      }),
    );
    const values = names.map((name) => ({ name, value: `by ${name}` }));
    for (const { name, value } of values) {
      same(await put('every name', name, value, { maxValues: names.length }), 'added');
    }
    same(await put('every name', 'a', 'again'), 'taken');
    same(await elsewhere.list('every name'), { values, isClosed: false });
  });

  test('keeps the text of a list unchanged: empty, long, or outside of ASCII', async ({
    store,
    put,
  }) => {
    const texts = ['', `${'x'.repeat(1_000_000)} \u0000 € 🙂`, '{"a":1}', '1e3', 'null', 'OK'];
    for (const [index, one] of texts.entries()) {
      same(await put('a', `name ${index}`, one), 'added');
    }
    same(
      (await store.list('a')).values.map(({ value }) => value),
      texts,
    );
  });

  test('holds many values in one list', async ({ store, put }) => {
    const values = Array.from({ length: 120 }, (_, index) => ({
      name: `${index}`,
      value: `value ${index}`,
    }));
    for (const { name, value } of values) {
      same(await put('a', name, value, { maxValues: 120 }), 'added');
    }
    same(await put('a', 'one more', 'x', { maxValues: 120 }), 'full');
    same(await store.list('a'), { values, isClosed: false });
  });

  test('keeps the lists and the entries of a group apart', async ({ store, now, put }) => {
    const life = { expiresAtMs: now() + hour };
    const key = { group: 'a', name: 'ada' };
    same(await put('a', 'ada', 'in the list'), 'added');
    same((await store.write(key, { head: 'entry', body: 'body' }, 0, life)).status, 'written');
    await store.discard('a', [{ name: 'ada', value: 'body' }]);
    const values = [{ name: 'ada', value: 'in the list' }];
    same(await store.list('a'), { values, isClosed: false });
    await store.discard('a', values);
    await store.close('a', now() + hour);
    same((await store.read(key))?.body, 'body');
    same(await store.list('a'), { values: [], isClosed: true });
  });

  test('counts the bytes of values for their principal until they are discarded', async (made) => {
    const { store, elsewhere, now, put } = made;
    const life = { expiresAtMs: now() + hour, charge: { to: 'ada', limit: 1_000 } };
    const write = async (name: string) =>
      (await elsewhere.write({ group: 'g', name }, { head: name, body: 'x' }, 0, life)).status;
    const half = 'x'.repeat(500);
    same(await put('a', 'one', half, { chargeTo: 'ada' }), 'added');
    same(await write('first'), 'written');
    same(await put('a', 'two', half, { chargeTo: 'ada' }), 'added');
    same(await write('second'), 'full');
    // A value is never refused for what its principal has stored.
    same(await put('a', 'three', half, { chargeTo: 'ada' }), 'added');
    same(await write('second'), 'full');
    const two = { name: 'two', value: half };
    const three = { name: 'three', value: half };
    await store.discard('a', [two, three, three]);
    // What was not added is not charged.
    const large = { chargeTo: 'ada', maxValues: 1 };
    same(await put('a', 'one', `${half}${half}`, large), 'taken');
    same(await put('a', 'four', `${half}${half}`, large), 'full');
    await store.close('closed', now() + hour);
    same(await put('closed', 'five', `${half}${half}`, large), 'closed');
    // 'one' and two entries of one byte are left of the limit of 1,000.
    same(await write('second'), 'written');
    same(await put('a', 'six', 'x'.repeat(497), { chargeTo: 'ada' }), 'added');
    same(await write('third'), 'written');
    same(await write('fourth'), 'full');
  });

  test('counts the bytes of values until their list expires', async ({ now, pass, put, store }) => {
    const charge = { to: 'ada', limit: 1_000 };
    const write = async () =>
      await store.write({ group: 'g', name: 'n' }, { head: 'h' }, 0, {
        expiresAtMs: now() + hour,
        charge,
      });
    same(await put('a', 'one', 'x'.repeat(1_000), { chargeTo: 'ada' }), 'added');
    same((await write()).status, 'full');
    // A store may count in steps of some minutes.
    await pass(hour + 20 * minute);
    same((await write()).status, 'written');
  });
  return cases;
}
