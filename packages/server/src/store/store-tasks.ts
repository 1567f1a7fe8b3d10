import type { EntryKey, EntryStore } from '../model/entry-store.ts';
import type { TaskStore } from '../model/task-store-types.ts';

/**
 * Creates the task store of a host on any store of entries: a task is the body of one entry.
 * @example
 * ```ts
 * declare const store: EntryStore; // of a package for a database, or your own
 *
 * createSagaHost({ sagas: [], audience: 'deployer', tasks: { store: storeTasks(store) } });
 * ```
 */
export function storeTasks(store: EntryStore): TaskStore {
  return {
    read: async (id) => {
      const entry = await store.read(keyOf(id));
      return entry && { version: entry.version, sealed: entry.body ?? '' };
    },
    write: async (id, sealed, expected, expiresAtMs, charge) => {
      // No two versions of a task are sealed to the same text.
      const value = { head: 'task', body: sealed };
      const { status } = await store.write(keyOf(id), value, expected, { expiresAtMs, charge });
      return status;
    },
  };
}

function keyOf(id: string): EntryKey {
  return { group: id, name: 'task' };
}
