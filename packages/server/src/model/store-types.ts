import type { SagaGuard } from './guard.ts';
import type { Mailbox } from './mailbox-types.ts';
import type { TaskStore } from './task-store-types.ts';

/**
 * All stores of a host in one value, as returned by `memoryStore()` and the packages for databases.
 */
export interface SagaStore {
  readonly guard: SagaGuard;
  readonly tasks: TaskStore;
  readonly mailbox: Mailbox;
}
