import type { PutBounds, PutResult, StoredAnswer } from '@mcp-saga/server/stores';
import type { Entries } from './object-storage.ts';
import type { Charged } from './stored-entries.ts';

/** Box of an object. Each answer has a separate entry, because an entry has a limit of 2 MB. */
interface Box {
  readonly size: number;
  /** Number of answers so far, with those that were removed. */
  readonly next: number;
  readonly isClosed: boolean;
}

interface Answer extends StoredAnswer {
  readonly index: number;
}

const boxName = 'box';
const answerPrefix = 'answer ';

/** Returns the box of an object. Removes what is left of an expired box. */
function openBox(entries: Entries): Box {
  const box = entries.get(boxName) as Box | undefined;
  if (box === undefined) entries.clear();
  return box ?? { size: 0, next: 0, isClosed: false };
}

/** Stores a box until the latest time of its answers. */
function putBox(entries: Entries, box: Box, expiresAt: number): void {
  entries.put(boxName, box, Math.max(expiresAt, entries.expiryOf(boxName)));
}

/** Stores an answer in the box of an object, as `put` of a mailbox. */
export function putAnswer(
  entries: Entries,
  slot: string,
  sealed: string,
  bounds: PutBounds,
): PutResult {
  const { expiresAt, maxAnswers } = bounds;
  const box = openBox(entries);
  const { size, next, isClosed } = box;
  const name = answerPrefix + slot;
  const taken = entries.get(name) as Answer | undefined;
  // A repeated call: two answers never seal to the same text.
  if (taken !== undefined) return taken.sealed === sealed ? 'stored' : 'taken';
  if (isClosed) return 'closed';
  if (size >= maxAnswers) return 'full';
  entries.assertLives(expiresAt);
  entries.put(name, { index: next, slot, sealed } satisfies Answer);
  putBox(entries, { ...box, size: size + 1, next: next + 1 }, expiresAt);
  return 'stored';
}

/** Returns the answers of the box of an object, and whether the box is closed. */
export function listAnswers(entries: Entries): {
  readonly answers: StoredAnswer[];
  readonly isClosed: boolean;
} {
  const box = entries.get(boxName) as Box | undefined;
  if (box === undefined) return { answers: [], isClosed: false };
  const answers = (entries.list(answerPrefix) as readonly Answer[]).toSorted(
    (one, other) => one.index - other.index,
  );
  return { answers: answers.map(({ slot, sealed }) => ({ slot, sealed })), isClosed: box.isClosed };
}

/** Removes answers of the box of an object. */
export function removeAnswers(entries: Entries, answers: readonly StoredAnswer[]): void {
  const box = entries.get(boxName) as Box | undefined;
  if (box === undefined) return;
  let { size } = box;
  for (const { slot, sealed } of answers) {
    const stored = entries.get(answerPrefix + slot) as Answer | undefined;
    if (stored?.sealed !== sealed) continue;
    entries.delete(answerPrefix + slot);
    size -= 1;
  }
  putBox(entries, { ...box, size }, 0);
}

/** Closes the box of an object. */
export function closeBox(entries: Entries, expiresAt: number): void {
  putBox(entries, { ...openBox(entries), isClosed: true }, expiresAt);
}

const keptName = 'kept';
/** Expiry of counted bytes, rounded up to this, in milliseconds. */
const slotMs = 15 * 60_000;

/** Bytes that count until an expiry (ms since the epoch). */
type Counted = Pick<Charged, 'bytes' | 'untilMs'>;

/**
 * Counts stored bytes of the principal of an object, in place of others. Returns `false` and changes
 * nothing if the limit was reached before. Default of the limit: none.
 */
export function countBytes(
  entries: Entries,
  {
    added,
    replaced,
    limit = Number.MAX_SAFE_INTEGER,
  }: {
    readonly added?: Counted | undefined;
    readonly replaced?: Counted | undefined;
    readonly limit?: number | undefined;
  },
): boolean {
  const kept = (entries.get(keptName) ?? []) as readonly (readonly [slot: number, bytes: number])[];
  const slots = new Map(kept.filter(([slot]) => slot * slotMs > entries.now));
  const total = [...slots.values()].reduce((sum, count) => sum + count, 0);
  if (total >= limit) return false;
  const add = (bytes: number, untilMs: number): void => {
    const slot = Math.ceil(untilMs / slotMs);
    slots.set(slot, Math.max(0, (slots.get(slot) ?? 0) + bytes));
  };
  // First what is added: two changes of one entry may arrive in the other order.
  if (added !== undefined) add(added.bytes, added.untilMs);
  if (replaced !== undefined) add(-replaced.bytes, replaced.untilMs);
  const counted = [...slots].filter(([, bytes]) => bytes > 0);
  if (counted.length === 0) entries.delete(keptName);
  else entries.put(keptName, counted, Math.max(...counted.map(([slot]) => slot)) * slotMs);
  return true;
}
