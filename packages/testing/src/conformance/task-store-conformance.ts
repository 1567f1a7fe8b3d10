import type { TaskStore } from '@mcp-saga/server/stores';
import { collectCases, hour, same, type ConformanceCase } from './conformance-case.ts';

/** A store of tasks under test, and its clock. */
export interface TaskStoreUnderTest {
  readonly store: TaskStore;
  /** Same store, as another process sees it. */
  readonly elsewhere: TaskStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Advances the clock of the store. */
  readonly pass: (ms: number) => Promise<void>;
}

/**
 * Returns the guarantees of every task store, as tests for any test runner.
 * @param make - makes a store that has stored nothing yet; called for each test
 * @example
 * ```ts
 * import { memoryTaskStore } from '@mcp-saga/server';
 * import { it } from 'vitest';
 *
 * const make = async () => {
 *   let time = 0;
 *   const store = memoryTaskStore({ clock: () => time });
 *   return { store, elsewhere: store, now: () => time, pass: async (ms: number) => void (time += ms) };
 * };
 * for (const { title, run } of taskStoreConformance(make)) it(title, run);
 * ```
 */
export function taskStoreConformance(
  make: () => Promise<TaskStoreUnderTest>,
): readonly ConformanceCase[] {
  const { cases, test } = collectCases(make);

  test('overwrites only the version of the last read', async ({ store, elsewhere, now }) => {
    const later = now() + hour;
    same(await store.read('a'), undefined);
    same(await store.write('a', 'x', 1, later), 'other');
    same(await store.write('a', 'one', 0, later), 'written');
    same(await store.write('a', 'other', 0, later), 'other');
    const first = await versionIn(elsewhere);
    same(await elsewhere.read('a'), { version: first, sealed: 'one' });
    same(await elsewhere.write('a', 'two', first, later), 'written');
    same(await store.write('a', 'late', first, later), 'other');
    same((await store.read('a'))?.sealed, 'two');
    same((await versionIn(store)) > first, true);
    same(await store.read('b'), undefined);
  });

  test('accepts one of many concurrent writes', async ({ store, elsewhere, now }) => {
    await store.write('a', 'first', 0, now() + hour);
    const version = await versionIn(store);
    const written = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? store : elsewhere).write('a', `writer ${index}`, version, now() + hour),
      ),
    );
    same(written.filter((status) => status === 'written').length, 1);
    same((await store.read('a'))?.sealed, `writer ${written.indexOf('written')}`);
  });

  test('removes expired entries, and each write sets a new expiry', async ({
    store,
    now,
    pass,
  }) => {
    await store.write('a', 'one', 0, now() + hour);
    await pass(hour / 2);
    await store.write('a', 'two', await versionIn(store), now() + hour);
    await pass((3 * hour) / 4);
    same((await store.read('a'))?.sealed, 'two');
    await pass(hour / 2);
    same(await store.read('a'), undefined);
    same(await store.write('a', 'three', 0, now() + hour), 'written');
    same((await store.read('a'))?.sealed, 'three');
  });

  test('stores sealed text unchanged: empty, long, or outside of ASCII', async ({ store, now }) => {
    for (const sealed of ['', `${'x'.repeat(1_000_000)} \u0000 € 🙂`]) {
      same(await store.write('a', sealed, await versionIn(store), now() + hour), 'written');
      same((await store.read('a'))?.sealed, sealed);
    }
  });
  return cases;
}

/** Version of the task that the tests write; 0 if there is none. */
async function versionIn(store: TaskStore): Promise<number> {
  return (await store.read('a'))?.version ?? 0;
}
