import { memoryStore, type SagaStore } from '@mcp-saga/server';
import { replaceGuard, storeGuard, type SagaGuard } from '@mcp-saga/server/internal';

/**
 * Returns a store on which hosts use a changed guard: one that fails, waits, or loses replies at
 * chosen moments of a turn. All else goes to the store.
 * @param change - members of the guard to replace, made from the guard on the store
 */
export function storeWithGuard(
  change: (guard: SagaGuard) => Partial<SagaGuard>,
  store: SagaStore = memoryStore(),
): SagaStore {
  // A wrapped method: the host seals what it keeps, as for any store that may pass it on.
  const changed: SagaStore = { ...store, write: (...given) => store.write(...given) };
  const guard = storeGuard(store);
  replaceGuard(changed, { ...guard, ...change(guard) });
  return changed;
}
