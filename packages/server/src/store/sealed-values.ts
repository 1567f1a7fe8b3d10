/**
 * Sealed values under an ID, each in an entry of its own: the record of a task, the state of a
 * handle, and the ticket of a link. An ID is a digest or the ID of a saga, so that the store learns
 * no name by which a client reaches the value.
 */
import type { Charge, EntryKey, SagaStore, Written } from '../model/saga-store.ts';
import { randomId } from './store-guard.ts';

/** What a sealed value is. */
type Kind = 'task' | 'handle' | 'ticket';

/** Stored value. */
export interface SealedValue {
  readonly version: number;
  readonly sealed: string;
}

/** Life and cost of a value. */
export interface SealedValueOptions {
  /** Time at which the store may forget the value (ms since the epoch). */
  readonly expiresAtMs: number;
  /** Principal who pays for the value. Undefined: nobody. */
  readonly charge: Charge | undefined;
}

/** Returns the newest version of a value; undefined if it is missing or expired. */
export async function readSealed(
  store: SagaStore,
  kind: Kind,
  id: string,
): Promise<SealedValue | undefined> {
  const entry = await store.read(keyOf(kind, id));
  return entry && { version: entry.version, sealed: entry.body ?? '' };
}

/**
 * Replaces version `expected` of a value (0: no version). Writes nothing if another version is
 * stored (`other`), or for a new value whose principal is at the limit (`full`).
 */
export async function writeSealed(
  store: SagaStore,
  kind: Kind,
  id: string,
  sealed: string,
  expected: number,
  options: SealedValueOptions,
): Promise<Written['status']> {
  // No two calls write the same value, although a ticket is sealed to the same text each time.
  const value = { head: randomId(), body: sealed };
  return (await store.write(keyOf(kind, id), value, expected, options)).status;
}

function keyOf(kind: Kind, id: string): EntryKey {
  return { group: id, name: kind };
}
