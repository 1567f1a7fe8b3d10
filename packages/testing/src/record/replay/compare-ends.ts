import type { RecordedEnd } from '../recording.ts';
import { isSameValue } from '../../values/same-value.ts';
import { show } from '../../values/show.ts';

/** Formats an end as a line of a comparison. */
export function endText(end: RecordedEnd): string {
  switch (end.status) {
    case 'completed':
      return `completed: ${show(end.result)}`;
    case 'failed':
      return `failed: ${end.error.name}: ${end.error.message}`;
    case 'continued':
      return `continued as ${end.saga} ${end.version}`;
  }
}

/**
 * `true` if a saga ends as recorded. A result or message that is redacted, or may depend on a
 * redacted value, is not compared.
 */
export function isSameEnd(
  { end, isMadeOfRedacted }: { readonly end: RecordedEnd; readonly isMadeOfRedacted: boolean },
  now: RecordedEnd | undefined,
  ends: 'compare' | 'ignore',
): boolean {
  if (now === undefined) return false;
  if (ends === 'ignore') return true;
  const whole = end.redacted !== true && !isMadeOfRedacted;
  return isSameValue(comparable(end, whole), comparable(now, whole));
}

/** An end, with or without its result or message. */
function comparable(end: RecordedEnd, whole: boolean): unknown {
  const { redacted: _, ...kept } = end;
  if (whole) return kept;
  if ('result' in kept) return { ...kept, result: null };
  return 'error' in kept ? { ...kept, error: kept.error.name } : kept;
}
