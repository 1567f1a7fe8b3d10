import { clockOf, type MemoryStoreOptions } from '../../settings/expiring-map.ts';
import type { TaskStore } from '../../model/task-store-types.ts';
import { memoryEntryStore } from '../../store/memory-entry-store.ts';
import { storeTasks } from '../../store/store-tasks.ts';

/**
 * Creates a task store in the memory of one process: for tests, stdio, and single-process servers.
 * Each write removes up to 1,000 expired tasks. A restart of the process drops all tasks.
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
  const store = memoryEntryStore({ clock: clockOf('memoryTaskStore', options) });
  return {
    get size() {
      return store.size;
    },
    ...storeTasks(store),
  };
}
