import { ExpiringMap, type MemoryStoreOptions } from '../../settings/expiring-map.ts';
import type { StoredTask, TaskStore } from '../../model/task-store-types.ts';

/**
 * Creates a task store in the memory of one process: for tests, stdio, and single-process servers.
 * Removes expired tasks when tasks are written, at most once a second. A restart of the process
 * drops all tasks.
 * @throws TypeError for an unknown option, or a `clock` that is not a function
 * @example
 * ```ts
 * const host = createSagaHost({
 *   sagas: [],
 *   audience: 'deployer',
 *   tasks: { store: memoryTaskStore(), bearer: 'accept' },
 * });
 * ```
 */
export function memoryTaskStore(
  options: MemoryStoreOptions = {},
): TaskStore & { readonly size: number } {
  const tasks = new ExpiringMap<StoredTask & { readonly expiresAt: number }>(
    'memoryTaskStore',
    options,
  );
  return {
    get size() {
      return tasks.size;
    },
    read: (id) => {
      const task = tasks.get(id);
      return task === undefined ? undefined : { version: task.version, sealed: task.sealed };
    },
    write: (id, sealed, expected, expiresAt) => {
      if ((tasks.get(id)?.version ?? 0) !== expected) return false;
      tasks.set(id, { version: expected + 1, sealed, expiresAt });
      return true;
    },
  };
}
