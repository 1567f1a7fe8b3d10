import type { EntryKey, WriteOptions, Written } from '@mcp-saga/server/stores';
import { SagaTestError } from '../values/errors.ts';
import { show } from '../values/show.ts';
import { collectCases, hour, minute, same, type ConformanceCase } from './conformance-case.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const key: EntryKey = { group: 'saga', name: 'turn:1' };

/** @throws SagaTestError `violated` if nothing was written */
function versionOf(written: Written): number {
  if (written.status === 'written') return written.version;
  throw new SagaTestError('violated', `Expected a write, but the store returned ${show(written)}.`);
}

/** The stored value that a refused write returned; undefined if there is none. */
function storedIn(written: Written): unknown {
  if (written.status !== 'other')
    throw new SagaTestError('violated', `Expected a refusal, but got ${show(written)}.`);
  const { head, body } = written.entry ?? {};
  return written.entry && { head, body };
}

/**
 * Guarantees of the entries of a store.
 * @param isRemote - `false` for a store in the process of its hosts
 */
export function entryCases(
  make: () => Promise<StoreUnderTest>,
  isRemote: boolean,
): readonly ConformanceCase[] {
  const { cases, test } = collectCases(async () => {
    const made = await make();
    const life = (change: Partial<WriteOptions> = {}): WriteOptions => ({
      expiresAtMs: made.now() + hour,
      ...change,
    });
    return { ...made, life };
  });

  test('stores an entry for all processes', async ({ store, elsewhere, life, now }) => {
    same(await elsewhere.read(key), undefined);
    const before = now();
    const version = versionOf(await store.write(key, { head: 'a', body: 'b' }, 0, life()));
    const { writtenAtMs, ...entry } = (await elsewhere.read(key)) ?? { writtenAtMs: 0 };
    same(entry, { head: 'a', body: 'b', version });
    same(writtenAtMs >= before - minute && writtenAtMs <= now() + minute, true);
    for (const other of [
      { ...key, name: 'turn:2' },
      { ...key, group: 'other' },
    ])
      same(await store.read(other), undefined);
  });

  test('replaces the expected version only, and returns the stored entry otherwise', async (made) => {
    const { store, elsewhere, life } = made;
    same(storedIn(await store.write(key, { head: 'x' }, 7, life())), undefined);
    const first = versionOf(await store.write(key, { head: 'a', body: 'b' }, 0, life()));
    const stored = { head: 'a', body: 'b' };
    for (const expected of [0, first - 1, first + 1])
      same(storedIn(await elsewhere.write(key, { head: 'x' }, expected, life())), stored);
    const second = versionOf(await elsewhere.write(key, { head: 'c' }, first, life()));
    same(second > first, true);
    same(storedIn(await store.write(key, { head: 'y' }, first, life())), {
      head: 'c',
      body: undefined,
    });
  });

  test('lets one of many simultaneous writes through', async ({ store, elsewhere, life }) => {
    const written = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? store : elsewhere).write(key, { head: `head ${index}` }, 0, life()),
      ),
    );
    const isWritten = written.filter(({ status }) => status === 'written');
    same(isWritten.length, 1);
    same(
      written.filter(({ status }) => status === 'other').length,
      written.length - isWritten.length,
    );
  });

  test('replaces an entry by one of many simultaneous writes', async (made) => {
    const { store, elsewhere, life } = made;
    const first = versionOf(await store.write(key, { head: 'first' }, 0, life()));
    const written = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? store : elsewhere).write(key, { head: `head ${index}` }, first, life()),
      ),
    );
    const winners = written.flatMap(({ status }, index) => (status === 'written' ? [index] : []));
    same(winners.length, 1);
    same((await elsewhere.read(key))?.head, `head ${winners[0]}`);
  });

  test('sets a new expiry with each write', async ({ store, life, now, pass }) => {
    const first = versionOf(await store.write(key, { head: 'a' }, 0, life()));
    await pass(hour / 2);
    versionOf(await store.write(key, { head: 'b' }, first, life({ expiresAtMs: now() + hour })));
    await pass((3 * hour) / 4);
    same((await store.read(key))?.head, 'b');
    await pass(hour / 2);
    same(await store.read(key), undefined);
  });

  test('has written what is stored already, if the call is repeated', async ({ store, life }) => {
    if (!isRemote) return;
    const first = versionOf(await store.write(key, { head: 'a', body: 'b' }, 0, life()));
    same(versionOf(await store.write(key, { head: 'a', body: 'b' }, 0, life())), first);
    same(storedIn(await store.write(key, { head: 'a', body: 'c' }, 0, life())), {
      head: 'a',
      body: 'b',
    });
    const second = versionOf(await store.write(key, { head: 'd', body: 'b' }, first, life()));
    same(versionOf(await store.write(key, { head: 'd', body: 'b' }, first, life())), second);
  });

  test('removes the expected version only, and uses no version twice', async (made) => {
    const { store, elsewhere, life } = made;
    same(await store.remove(key, 1), false);
    const first = versionOf(await store.write(key, { head: 'a', body: 'b' }, 0, life()));
    same(await elsewhere.remove(key, first - 1), false);
    same(await elsewhere.remove(key, first), true);
    same(await store.read(key), undefined);
    same(storedIn(await store.write(key, { head: 'late' }, first, life())), undefined);
    const second = versionOf(await store.write(key, { head: 'c' }, 0, life()));
    same(second > first, true);
    same(await store.remove(key, first), false);
    same(storedIn(await store.write(key, { head: 'late' }, first, life())), {
      head: 'c',
      body: undefined,
    });
  });

  test('forgets an entry when it expires, and uses no version twice', async (made) => {
    const { store, elsewhere, life, pass } = made;
    const first = versionOf(await store.write(key, { head: 'a', body: 'b' }, 0, life()));
    await pass(hour - minute);
    same((await elsewhere.read(key))?.body, 'b');
    await pass(2 * minute);
    same(await elsewhere.read(key), undefined);
    same(storedIn(await store.write(key, { head: 'late' }, first, life())), undefined);
    same(await store.remove(key, first), false);
    const second = versionOf(await store.write(key, { head: 'c' }, 0, life()));
    same(second > first, true);
  });

  test('forgets a body earlier than its head', async ({ store, life, now, pass }) => {
    const bodyExpiresAtMs = now() + minute;
    const written = await store.write(key, { head: 'a', body: 'b' }, 0, life({ bodyExpiresAtMs }));
    await pass(2 * minute);
    const { head, body, version } = (await store.read(key)) ?? {};
    same({ head, body, version }, { head: 'a', body: undefined, version: versionOf(written) });
    same(storedIn(await store.write(key, { head: 'x' }, 0, life())), {
      head: 'a',
      body: undefined,
    });
  });

  test('counts a lease from the last write', async ({ store, life, pass }) => {
    const first = versionOf(await store.write(key, { head: 'a' }, 0, life()));
    const began = (await store.read(key))?.writtenAtMs ?? 0;
    await pass(10 * minute);
    versionOf(await store.write(key, { head: 'b' }, first, life()));
    const renewed = (await store.read(key))?.writtenAtMs ?? 0;
    same(Math.abs(renewed - began - 10 * minute) < minute, true);
  });

  test('rejects an entry that would expire at once', async (made) => {
    const { store, life, now } = made;
    const rejected = async (change: Partial<WriteOptions>): Promise<boolean> => {
      try {
        await store.write(key, { head: 'a' }, 0, life(change));
        return false;
      } catch {
        return true;
      }
    };
    same(await rejected({ expiresAtMs: now() - minute }), true);
    // The clock of the host is wrong.
    if (isRemote) {
      same(await rejected({ nowMs: now() - minute }), true);
      same(await rejected({ nowMs: now() + minute }), true);
    }
    same(await store.read(key), undefined);
    same(await rejected({ nowMs: now() + 10_000 }), false);
  });

  test('writes no new entry for a principal at the limit', async ({ store, elsewhere, life }) => {
    const charge = { to: 'ada', limit: 1_000 };
    const write = async (name: string, bytes: number, change: Partial<WriteOptions> = {}) =>
      await elsewhere.write(
        { group: `saga ${name}`, name },
        { head: name, body: 'x'.repeat(bytes) },
        0,
        life({ charge, ...change }),
      );
    const first = versionOf(await write('one', 1_000));
    same((await write('two', 1)).status, 'full');
    same(await store.read({ group: 'saga two', name: 'two' }), undefined);
    versionOf(await write('three', 1, { charge: { to: 'eve', limit: 1_000 } }));
    versionOf(await write('four', 1, { charge: undefined }));
    // What exists can be replaced, and then counts as what it is now.
    const one = { group: 'saga one', name: 'one' };
    const replaced = await store.write(one, { head: 'b', body: 'x' }, first, life({ charge }));
    versionOf(await write('five', 998));
    versionOf(await write('six', 1));
    same((await write('seven', 1)).status, 'full');
    same(await store.remove(one, versionOf(replaced)), true);
    versionOf(await write('eight', 1));
  });

  test('counts bytes until the body expires', async ({ store, life, now, pass }) => {
    const charge = { to: 'ada', limit: 1_000 };
    const body = 'x'.repeat(1_000);
    const bodyExpiresAtMs = now() + minute;
    versionOf(await store.write(key, { head: 'a', body }, 0, life({ charge, bodyExpiresAtMs })));
    const other = { ...key, name: 'turn:2' };
    same((await store.write(other, { head: 'b' }, 0, life({ charge }))).status, 'full');
    // A store may count in steps of some minutes.
    await pass(20 * minute);
    versionOf(await store.write(other, { head: 'b' }, 0, life({ charge })));
  });

  test('forgets the body of an outdated entry with a later write', async (made) => {
    const { store, elsewhere, life, now, pass } = made;
    const charge = { to: 'ada', limit: 2_000 };
    const old = { ...key, name: 'turn:0' };
    const expiresAtMs = now() + 2 * hour;
    const body = 'x'.repeat(1_000);
    const before = versionOf(
      await store.write(old, { head: 'old', body }, 0, life({ charge, expiresAtMs })),
    );
    const first = versionOf(await store.write(key, { head: 'a', body }, 0, life({ charge })));
    same((await elsewhere.read(old))?.body, body);
    same(
      (await store.write({ ...key, name: 'b' }, { head: 'b' }, 0, life({ charge }))).status,
      'full',
    );
    const bounds = life({ charge, outdated: old.name });
    const second = versionOf(await elsewhere.write(key, { head: 'c', body }, first, bounds));
    const left = await store.read(old);
    same([left?.head, left?.body, left?.version], ['old', undefined, before]);
    same((await store.read(key))?.body, body);
    // Its bytes count no longer, and are given back once.
    const rest = { head: 'd', body: 'x'.repeat(999) };
    versionOf(await store.write({ ...key, name: 'd' }, rest, 0, life({ charge })));
    versionOf(await store.write(key, { head: 'e', body }, second, bounds));
    versionOf(
      await store.write({ ...key, name: 'f' }, { head: 'f', body: 'x' }, 0, life({ charge })),
    );
    same(
      (await store.write({ ...key, name: 'g' }, { head: 'g' }, 0, life({ charge }))).status,
      'full',
    );
    // A missing entry is ignored, and the head lives as long as before.
    const third = (await store.read(key))?.version ?? 0;
    versionOf(await store.write(key, { head: 'h' }, third, life({ outdated: 'turn:none' })));
    await pass(hour + 30 * minute);
    same((await store.read(old))?.head, 'old');
    await pass(hour);
    same(await store.read(old), undefined);
  });

  test('stores any text unchanged, also long text and text outside of ASCII', async (made) => {
    const { store, elsewhere, life } = made;
    const head = '{"text":"a b % \\n é 🙂"}';
    const body = `${'x'.repeat(1_000_000)} \u0000 % \n € 🙂`;
    versionOf(await store.write(key, { head, body }, 0, life()));
    const { head: storedHead, body: storedBody } = (await elsewhere.read(key)) ?? {};
    same(storedHead, head);
    same(storedBody, body);
    versionOf(await store.write({ ...key, name: 'empty' }, { head, body: '' }, 0, life()));
    same((await elsewhere.read({ ...key, name: 'empty' }))?.body, '');
    const long: EntryKey = { group: 'a group: 100 % é', name: 'once:'.padEnd(3_000, 'x') };
    versionOf(await store.write(long, { head: 'c' }, 0, life()));
    same((await elsewhere.read(long))?.head, 'c');
  });
  return cases;
}
