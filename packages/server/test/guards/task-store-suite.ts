import type { TaskStore } from '@mcp-saga/server';
import { describe, expect, test as it } from 'vitest';

/** A store of tasks, and the time it goes by. */
export interface TaskStoreUnderTest {
  readonly store: TaskStore;
  /** The same store, as another process reaches it. */
  readonly elsewhere: TaskStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Lets time pass for all that is kept. */
  readonly pass: (ms: number) => Promise<void>;
}

const hour = 3_600_000;

/** What every store of tasks does, whatever it keeps them in. */
export function taskStoreSuite(name: string, make: () => Promise<TaskStoreUnderTest>): void {
  describe(`a store of tasks ${name}`, () => {
    it('writes only over the version that was read', async () => {
      const { store, elsewhere, now } = await make();
      const later = now() + hour;
      expect(await store.read('a')).toBeUndefined();
      expect(await store.write('a', 'x', 1, later)).toBe(false);
      expect(await store.write('a', 'one', 0, later)).toBe(true);
      expect(await store.write('a', 'other', 0, later)).toBe(false);
      expect(await elsewhere.read('a')).toEqual({ version: 1, sealed: 'one' });
      expect(await elsewhere.write('a', 'two', 1, later)).toBe(true);
      expect(await store.read('a')).toEqual({ version: 2, sealed: 'two' });
      expect(await store.read('b')).toBeUndefined();
    });

    it('lets one of many writers through', async () => {
      const { store, elsewhere, now } = await make();
      await store.write('a', 'first', 0, now() + hour);
      const written = await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          (index % 2 === 0 ? store : elsewhere).write('a', `writer ${index}`, 1, now() + hour),
        ),
      );
      expect(written.filter(Boolean)).toHaveLength(1);
      expect(await store.read('a')).toEqual({ version: 2, sealed: `writer ${written.indexOf(true)}` });
    });

    it('forgets what has expired, and each write says anew when that is', async () => {
      const { store, now, pass } = await make();
      await store.write('a', 'one', 0, now() + hour);
      await pass(hour / 2);
      await store.write('a', 'two', 1, now() + hour);
      await pass((3 * hour) / 4);
      expect(await store.read('a')).toEqual({ version: 2, sealed: 'two' });
      await pass(hour / 2);
      expect(await store.read('a')).toBeUndefined();
      expect(await store.write('a', 'three', 0, now() + hour)).toBe(true);
      expect(await store.read('a')).toEqual({ version: 1, sealed: 'three' });
    });

    it('keeps what is sealed as it is, empty, long or not of ASCII', async () => {
      const { store, now } = await make();
      for (const [index, sealed] of ['', `${'x'.repeat(1_000_000)} \u0000 € 🙂`].entries()) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await store.write('a', sealed, index, now() + hour)).toBe(true);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await store.read('a')).toEqual({ version: index + 1, sealed });
      }
    });
  });
}
