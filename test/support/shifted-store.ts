import {
  storeGuard,
  type Entry,
  type EntryStore,
  type SagaGuard,
  type Written,
} from '@mcp-saga/server/stores';
import type { EntryStoreUnderTest, GuardUnderTest } from '../../packages/testing/src/guard.ts';

/**
 * A store as its hosts see it whose clock is ahead of the clock of the store. The clock of a database
 * cannot be set: to let time pass, a test moves the times of stored entries into the past, and the
 * clock of the hosts ahead.
 * @param ahead - returns how far the hosts are ahead, in milliseconds
 */
function shiftedStore(store: EntryStore, ahead: () => number): EntryStore {
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
  };
}

/**
 * Stores of two processes on a database, and a clock that a test moves.
 * @param pass - moves the times of stored entries into the past
 */
export function shiftedStores(
  one: EntryStore,
  other: EntryStore,
  pass: (ms: number) => Promise<void>,
): EntryStoreUnderTest {
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

/**
 * Guards of two processes on a store. They are not told the time of their hosts: the suites set that
 * hours ahead.
 */
export function guardsOn({ store, elsewhere, ...time }: EntryStoreUnderTest): GuardUnderTest {
  const clockless = (entries: EntryStore): SagaGuard => {
    const guard = storeGuard(entries);
    return {
      ...guard,
      begin: ({ now: _now, ...claim }) => guard.begin(claim),
      claim: (key, expiresAt) => guard.claim(key, expiresAt),
    };
  };
  return { guard: clockless(store), elsewhere: clockless(elsewhere), ...time };
}
