import type { Entry, SagaStore, Written } from '@mcp-saga/server/stores';
import type { StoreUnderTest } from '../../packages/testing/src/stores.ts';

/**
 * A store as its hosts see it whose clock is ahead of the clock of the store. The clock of a
 * database cannot be set: to let time pass, a test moves the times of stored entries into the past,
 * and the clock of the hosts ahead.
 * @param ahead - returns how far the hosts are ahead, in milliseconds
 */
function shiftedStore(store: SagaStore, ahead: () => number): SagaStore {
  const later = (entry: Entry | undefined): Entry | undefined =>
    entry && { ...entry, writtenAtMs: entry.writtenAtMs + ahead() };
  const earlier = (time: number | undefined): number | undefined => time && time - ahead();
  return {
    write: async (key, value, expected, bounds): Promise<Written> => {
      const written = await store.write(key, value, expected, {
        ...bounds,
        expiresAtMs: bounds.expiresAtMs - ahead(),
        bodyExpiresAtMs: earlier(bounds.bodyExpiresAtMs),
        nowMs: earlier(bounds.nowMs),
      });
      const nowMs = written.nowMs + ahead();
      return written.status === 'other'
        ? { ...written, entry: later(written.entry), nowMs }
        : { ...written, nowMs };
    },
    remove: (key, expected) => store.remove(key, expected),
    read: async (key) => later(await store.read(key)),
    append: (key, value, bounds) =>
      store.append(key, value, { ...bounds, expiresAtMs: bounds.expiresAtMs - ahead() }),
    list: (group) => store.list(group),
    discard: (group, values) => store.discard(group, values),
    close: (group, expiresAtMs) => store.close(group, expiresAtMs - ahead()),
  };
}

/**
 * Stores of two processes on a database, and a clock that a test moves.
 * @param pass - moves the times of stored entries into the past
 */
export function shiftedStores(
  one: SagaStore,
  other: SagaStore,
  pass: (ms: number) => Promise<void>,
): StoreUnderTest {
  let ahead = 0;
  return {
    store: shiftedStore(one, () => ahead),
    elsewhere: shiftedStore(other, () => ahead),
    now: () => Date.now() + ahead,
    pass: async (ms) => {
      ahead += ms;
      await pass(ms);
    },
  };
}

/** Stores that are not told the time of their hosts: the suites of hosts set that hours ahead. */
export function clockless({ store, elsewhere, ...time }: StoreUnderTest): StoreUnderTest {
  const untold = (told: SagaStore): SagaStore => ({
    ...told,
    write: (key, value, expected, { nowMs: _nowMs, ...bounds }) =>
      told.write(key, value, expected, bounds),
  });
  return { store: untold(store), elsewhere: untold(elsewhere), ...time };
}
