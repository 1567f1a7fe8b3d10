/**
 * Entries of a saga in its object. An entry has two values: its facts with the head, and its body,
 * which may expire earlier. Removed facts stay without a head until they expire, so that the next
 * version is greater, even within one millisecond.
 */
import { skewMs, type Entry, type EntryValue, type WriteOptions } from '@mcp-saga/server/stores';
import type { Entries } from './object-storage.ts';

/** Bytes of a principal until an expiry. */
export interface Charged {
  readonly principal: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly untilMs: number;
}

interface Facts {
  /** Undefined once the entry is removed. */
  readonly head?: string;
  readonly version: number;
  readonly writtenAtMs: number;
  /** Time until which the object knows the version (ms since the epoch). */
  readonly expiresAtMs: number;
  readonly charged?: Charged;
}

/** Result of a write, with the charges of the bodies that it replaced. */
export type WrittenEntry =
  | {
      readonly status: 'written';
      readonly version: number;
      readonly nowMs: number;
      readonly replaced: readonly Charged[];
    }
  | { readonly status: 'other'; readonly entry?: Entry | undefined; readonly nowMs: number };

const factsName = (name: string): string => `entry ${name}`;
const bodyName = (name: string): string => `body ${name}`;

/** Replaces version `expected` of an entry, as `write` of a store of entries. */
export function writeEntry(
  entries: Entries,
  name: string,
  { head, body }: EntryValue,
  expected: number,
  { expiresAtMs, bodyExpiresAtMs = expiresAtMs, charge, outdated, nowMs: hostTime }: WriteOptions,
): WrittenEntry {
  const { now: nowMs } = entries;
  if (hostTime !== undefined && Math.abs(nowMs - hostTime) > skewMs)
    throw new Error(
      `The clocks of the Durable Object and of this host differ by more than ${skewMs / 1_000} s. Synchronize the clocks.`,
    );
  const entry = entryAt(entries, name);
  // The store repeated the call, because the reply was lost: two calls never write one value.
  if (entry !== undefined && entry.head === head && entry.body === body)
    return { status: 'written', version: entry.version, nowMs, replaced: [] };
  if ((entry?.version ?? 0) !== expected) return { status: 'other', entry, nowMs };
  entries.assertLives(expiresAtMs);
  const stored = entries.get(factsName(name)) as Facts | undefined;
  const untilMs = Math.min(bodyExpiresAtMs, expiresAtMs);
  // A body that is too large for the object throws here, and leaves the entry as it is.
  if (body === undefined) entries.delete(bodyName(name));
  else entries.put(bodyName(name), body, untilMs);
  const version = Math.max(nowMs, (stored?.version ?? 0) + 1);
  const charged =
    charge === undefined
      ? {}
      : { charged: { principal: charge.to, bytes: body?.length ?? 0, untilMs } };
  putFacts(entries, name, { head, version, writtenAtMs: nowMs, expiresAtMs, ...charged });
  const replaced = [stored?.charged];
  if (outdated !== undefined && expected !== 0) replaced.push(forgetBody(entries, outdated));
  return {
    status: 'written',
    version,
    nowMs,
    replaced: replaced.filter((one) => one !== undefined),
  };
}

/** Forgets the body of an entry. Returns its charge. */
function forgetBody(entries: Entries, name: string): Charged | undefined {
  const stored = entries.get(factsName(name)) as Facts | undefined;
  if (stored === undefined || entries.get(bodyName(name)) === undefined) return undefined;
  entries.delete(bodyName(name));
  const { charged, ...facts } = stored;
  putFacts(entries, name, facts);
  return charged;
}

/**
 * Removes version `expected` of an entry. Returns the charge of the entry if it was removed. A
 * repeated call finds that it was.
 */
export function removeEntry(
  entries: Entries,
  name: string,
  expected: number,
): { readonly isRemoved: boolean; readonly replaced?: Charged | undefined } {
  const facts = entries.get(factsName(name)) as Facts | undefined;
  if (facts?.version !== expected) return { isRemoved: false };
  const { version, writtenAtMs, expiresAtMs, charged: replaced } = facts;
  putFacts(entries, name, { version, writtenAtMs, expiresAtMs });
  entries.delete(bodyName(name));
  return { isRemoved: true, replaced };
}

/** Returns an entry, undefined if it is missing or expired, and the time of the object. */
export function readEntry(
  entries: Entries,
  name: string,
): { readonly entry?: Entry | undefined; readonly nowMs: number } {
  return { entry: entryAt(entries, name), nowMs: entries.now };
}

function entryAt(entries: Entries, name: string): Entry | undefined {
  const facts = entries.get(factsName(name)) as Facts | undefined;
  if (facts?.head === undefined) return undefined;
  const { head, version, writtenAtMs } = facts;
  return { head, body: entries.get(bodyName(name)) as string | undefined, version, writtenAtMs };
}

function putFacts(entries: Entries, name: string, facts: Facts): void {
  entries.put(factsName(name), facts, facts.expiresAtMs);
}
