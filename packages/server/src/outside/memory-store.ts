import { memoryTaskStore } from '../dialects/tasks/memory-task-store.ts';
import { memoryGuard } from '../guard/memory-guard.ts';
import type { SagaStore } from '../model/store-types.ts';
import type { MemoryStoreOptions } from '../settings/expiring-map.ts';
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
  return { guard: memoryGuard(), tasks: memoryTaskStore(options), mailbox };
}
