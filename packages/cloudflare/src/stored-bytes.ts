import type { Entries } from './object-storage.ts';
import type { Charged } from './stored-entries.ts';

const keptName = 'kept';
/** Expiry of counted bytes, rounded up to this, in milliseconds. */
const slotMs = 15 * 60_000;

/** Bytes that count until an expiry (ms since the epoch). */
type Counted = Pick<Charged, 'bytes' | 'untilMs'>;

/**
 * Counts stored bytes of the principal of an object, in place of others. Returns `false` and
 * changes nothing if the limit was reached before. Default of the limit: none.
 */
export function countBytes(
  entries: Entries,
  {
    added,
    replaced = [],
    limit = Number.MAX_SAFE_INTEGER,
  }: {
    readonly added?: Counted | undefined;
    readonly replaced?: readonly Counted[];
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
  for (const { bytes, untilMs } of replaced) add(-bytes, untilMs);
  const counted = [...slots].filter(([, bytes]) => bytes > 0);
  if (counted.length === 0) entries.delete(keptName);
  else entries.put(keptName, counted, Math.max(...counted.map(([slot]) => slot)) * slotMs);
  return true;
}
