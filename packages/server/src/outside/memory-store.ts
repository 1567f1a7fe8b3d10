import { memoryGuardOn } from '../guard/memory-guard.ts';
import type { SagaStore } from '../model/store-types.ts';
import type { MemoryStoreOptions } from '../settings/expiring-map.ts';
import { memoryEntryStore } from '../store/memory-entry-store.ts';
import { storeTasks } from '../store/store-tasks.ts';
import { memoryMailbox } from './memory-mailbox.ts';

/**
 * Creates guard, task store, and mailbox in the memory of one process: for tests, and
 * single-process servers. A restart of the process drops all of them.
 * @throws TypeError for an unknown option, or a `clock` that is not a function
 * @example
 * ```ts
 * const host = createSagaHost({ sagas: [], audience: 'shop', store: memoryStore() });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): SagaStore {
  // First: its check names the option.
  const mailbox = memoryMailbox(options);
  // Guard and tasks are on one store of entries, so that one limit of a principal covers both.
  const entries = memoryEntryStore({ clock: options.clock, tellsRestarts: true });
  return { guard: memoryGuardOn(entries), tasks: storeTasks(entries), mailbox };
}
