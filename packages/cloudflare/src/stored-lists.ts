/**
 * List of a group in its object. Each value has a separate record, because a record has a limit of
 * 2 MB.
 */
import type { Appended, AppendOptions, ListedValue, StoredList } from '@mcp-saga/server/stores';
import type { Entries } from './object-storage.ts';
import type { Charged } from './stored-entries.ts';

interface ListFacts {
  readonly size: number;
  /** Number of values so far, with those that were discarded. */
  readonly next: number;
  readonly isClosed: boolean;
}

interface StoredValue extends ListedValue {
  readonly index: number;
  readonly charged?: Charged;
}

const factsName = 'list';
const valuePrefix = 'value ';

/** Returns the list of an object. Removes what is left of an expired list. */
function openList(entries: Entries): ListFacts {
  const facts = entries.get(factsName) as ListFacts | undefined;
  if (facts === undefined) entries.clear(valuePrefix);
  return facts ?? { size: 0, next: 0, isClosed: false };
}

/** Stores a list until the latest time of its values. */
function putList(entries: Entries, facts: ListFacts, expiresAtMs: number): void {
  entries.put(factsName, facts, Math.max(expiresAtMs, entries.expiryOf(factsName)));
}

/** Adds a value to the list of an object, as `append` of a store. */
export function appendValue(
  entries: Entries,
  { name, value }: ListedValue,
  { maxValues, expiresAtMs, chargeTo }: AppendOptions,
): Appended {
  const facts = openList(entries);
  const { size, next, isClosed } = facts;
  const taken = entries.get(valuePrefix + name) as StoredValue | undefined;
  // A repeated call: two calls never add one value.
  if (taken !== undefined) return taken.value === value ? 'added' : 'taken';
  if (isClosed) return 'closed';
  if (size >= maxValues) return 'full';
  entries.assertLives(expiresAtMs);
  const charged =
    chargeTo === undefined
      ? {}
      : { charged: { principal: chargeTo, bytes: value.length, untilMs: expiresAtMs } };
  entries.put(valuePrefix + name, { index: next, name, value, ...charged } satisfies StoredValue);
  putList(entries, { ...facts, size: size + 1, next: next + 1 }, expiresAtMs);
  return 'added';
}

/** Returns the list of an object. */
export function listValues(entries: Entries): StoredList {
  const facts = entries.get(factsName) as ListFacts | undefined;
  if (facts === undefined) return { values: [], isClosed: false };
  const values = (entries.list(valuePrefix) as readonly StoredValue[])
    .toSorted((one, other) => one.index - other.index)
    .map(({ name, value }) => ({ name, value }));
  return { values, isClosed: facts.isClosed };
}

/** Removes values from the list of an object, and returns what was charged for them. */
export function discardValues(entries: Entries, values: readonly ListedValue[]): Charged[] {
  const facts = entries.get(factsName) as ListFacts | undefined;
  if (facts === undefined) return [];
  const discarded = values.flatMap(({ name, value }) => {
    const stored = entries.get(valuePrefix + name) as StoredValue | undefined;
    if (stored?.value !== value) return [];
    entries.delete(valuePrefix + name);
    return [stored];
  });
  putList(entries, { ...facts, size: facts.size - discarded.length }, 0);
  return discarded.flatMap(({ charged }) => charged ?? []);
}

/** Closes the list of an object. */
export function closeList(entries: Entries, expiresAtMs: number): void {
  putList(entries, { ...openList(entries), isClosed: true }, expiresAtMs);
}
