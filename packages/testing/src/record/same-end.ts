import type { RecordedEnd } from './recorded.ts';
import { isSameValue } from '../same-value.ts';

/** Whether a saga ends as it was recorded; where that was redacted, as far as it was not. */
export function isSameEnd(
  recorded: RecordedEnd,
  now: RecordedEnd | undefined,
  ends: 'compare' | 'ignore',
): boolean {
  if (now === undefined) return false;
  return ends === 'ignore' || isSameValue(comparable(recorded, recorded), comparable(now, recorded));
}

/** An end without what was redacted of it. */
function comparable(end: RecordedEnd, { redacted }: RecordedEnd): unknown {
  const { redacted: _, ...kept } = end;
  if (redacted !== true) return kept;
  if ('result' in kept) return { ...kept, result: null };
  return 'error' in kept ? { ...kept, error: kept.error.name } : kept;
}
