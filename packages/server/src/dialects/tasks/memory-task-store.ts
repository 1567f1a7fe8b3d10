import { assertClock } from '../../settings/clock.ts';
import type { StoredTask, TaskStore } from '../../model/task-store.ts';

/**
 * Creates a store of tasks in the memory of one process: for tests, stdio, and single-process servers. Expired tasks are removed at
 * most a second later, when the store is asked. `clock` returns milliseconds since the epoch. Default `Date.now`.
 */
export function memoryTaskStore(clock: () => number = Date.now): TaskStore & { readonly size: number } {
  assertClock('memoryTaskStore', clock);
  const tasks = new Map<string, StoredTask & { readonly expiresAt: number }>();
  let swept = 0;
  const forget = (now: number): void => {
    // Once a second at the most: what has expired only takes room.
    if (now < swept + 1_000) return;
    swept = now;
    for (const [id, { expiresAt }] of tasks) if (expiresAt <= now) tasks.delete(id);
  };
  const found = (id: string): StoredTask | undefined => {
    const task = tasks.get(id);
    return task !== undefined && clock() < task.expiresAt ? task : undefined;
  };
  return {
    get size() {
      return tasks.size;
    },
    read: (id) => {
      const task = found(id);
      return task === undefined ? undefined : { version: task.version, sealed: task.sealed };
    },
    write: (id, sealed, expected, expiresAt) => {
      forget(clock());
      if ((found(id)?.version ?? 0) !== expected) return false;
      tasks.set(id, { version: expected + 1, sealed, expiresAt });
      return true;
    },
  };
}
