import type { HistoryEntry } from '../model/history.ts';
import type { RecordedReceipt } from '../model/outside.ts';
import { decode } from '../values/codec.ts';
import { isRecord } from '../values/json.ts';

// Polls of approvals and events.
const results = /^(.+)\/(?:answers|close)$/;

/**
 * Reads the receipts of the approvals and events in a history, without the contents of the answers.
 */
export function receiptsIn(entries: readonly HistoryEntry[]): readonly RecordedReceipt[] {
  return entries.flatMap(({ kind, path, outcome, value }) => {
    const scope = results.exec(path)?.[1];
    if (kind !== 'poll' || outcome !== 'answered' || scope === undefined) return [];
    return receiptsOf(decode(JSON.stringify(value ?? null))).map((receipt) => ({
      path: scope,
      ...receipt,
    }));
  });
}

function receiptsOf(value: unknown): readonly Omit<RecordedReceipt, 'path'>[] {
  if (!isRecord(value)) return [];
  const { last = value } = value;
  const { answers = [last] } = Object(last) as { readonly answers?: readonly unknown[] };
  return answers.filter(isReceipt).map(({ by, level, at, shown, approved }) => ({
    by,
    level,
    at,
    shown,
    ...(typeof approved === 'boolean' ? { approved } : {}),
  }));
}

function isReceipt(value: unknown): value is Omit<RecordedReceipt, 'path'> {
  if (!isRecord(value)) return false;
  const { level, at, shown } = value;
  return (
    (level === 'user' || level === 'link') && typeof at === 'number' && typeof shown === 'string'
  );
}
