import type { NamesOf } from '@mcp-saga/core/shared';
import { assertClock } from '../settings/clock.ts';
import { assertOneOf } from '../settings/check-options.ts';
import { assertKnown } from '../settings/known-options.ts';
import type { EntryStore } from '../model/entry-store.ts';
import type { SagaGuard } from '../model/guard.ts';
import { memoryEntryStore } from '../store/memory-entry-store.ts';
import { registerMemoryGuard } from '../token/guard-records.ts';
import { storeGuard } from './store-guard.ts';

/** Options of {@link memoryGuard}. */
export interface MemoryGuardOptions {
  /**
   * `refuse`: tokens of an earlier process are refused, because the guard does not know the used
   * ones. `accept`: each older token can be used again once. @default 'refuse'
   */
  readonly olderTokens?: 'refuse' | 'accept';
  /**
   * Returns the time, in milliseconds since the epoch. Default: the clock of the host, or
   * `Date.now` for callers that pass no time.
   */
  readonly clock?: () => number;
}

const optionNames: NamesOf<MemoryGuardOptions> = { olderTokens: true, clock: true };

/**
 * Creates a guard in the memory of one process: for tests, stdio, and servers that are one process.
 * Each call removes up to 1,000 expired entries. A restart of the process forgets all entries.
 * @throws TypeError for an unknown option, or one of the wrong type
 * @example
 * ```ts
 * const greet = saga({ name: 'greet', version: '1', forks: 'refuse' }, function* () {
 *   return 'Hello';
 * });
 * createSagaHost({ sagas: [greet], keys, audience: 'greeter', guard: { store: memoryGuard() } });
 * ```
 */
export function memoryGuard(
  options: MemoryGuardOptions = {},
): SagaGuard & { readonly size: number } {
  assertKnown('memoryGuard', options, optionNames);
  const { clock, olderTokens = 'refuse' } = options;
  if (clock !== undefined) assertClock('memoryGuard.clock', clock);
  assertOneOf('memoryGuard.olderTokens', olderTokens, ['refuse', 'accept']);
  return memoryGuardOn(memoryEntryStore({ clock, tellsRestarts: olderTokens === 'refuse' }));
}

/** Creates a guard on a store in the memory of this process. */
export function memoryGuardOn(
  store: EntryStore & { readonly size: number },
): SagaGuard & { readonly size: number } {
  const guard: SagaGuard & { readonly size: number } = {
    get size() {
      return store.size;
    },
    ...storeGuard(store),
  };
  registerMemoryGuard(guard);
  return guard;
}
