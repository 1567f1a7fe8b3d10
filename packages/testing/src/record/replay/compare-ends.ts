import type { RecordedEnd } from '../recorded-event.ts';
import { isSameValue } from '../../values/same-value.ts';
import { show } from '../../values/show.ts';

/** How a saga ended, as a line of a comparison has it. */
export function endText(end: RecordedEnd): string {
  switch (end.status) {
    case 'completed':
      return `completed: ${show(end.result)}`;
    case 'failed':
      return `failed: ${end.error.name}: ${end.error.message}`;
    case 'continued':
      return `went on as ${end.saga} ${end.version}`;
  }
}

/**
 * Whether a saga ends as it was recorded; where that was redacted, or may be made of what was, as far as it was not.
 *
 * @param recording - whose end it is, and whether something that the saga could make it of was redacted
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

/** An end as a whole, or without its result or message. */
function comparable(end: RecordedEnd, whole: boolean): unknown {
  const { redacted: _, ...kept } = end;
  if (whole) return kept;
  if ('result' in kept) return { ...kept, result: null };
  return 'error' in kept ? { ...kept, error: kept.error.name } : kept;
}
