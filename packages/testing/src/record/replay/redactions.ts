import type { RecordedEvent } from '../recording.ts';

interface Redactable {
  readonly redacted?: readonly 'input'[];
  readonly happened: readonly Pick<RecordedEvent, 'id' | 'redacted'>[];
}

/**
 * Index of the first event that may depend on a redacted value; Infinity if no value was redacted.
 */
export function madeOfRedactedFrom({ redacted = [], happened }: Redactable): number {
  if (redacted.length > 0) return 0;
  const first = happened.findIndex(isRedacted);
  return first === -1 ? Number.POSITIVE_INFINITY : first + 1;
}

/**
 * Explains that a difference after `at` events may come from a redacted value; empty if no value
 * was redacted.
 */
export function redactedNote({ redacted = [], happened }: Redactable, at: number): string {
  const ids = happened
    .slice(0, at)
    .flatMap((event) => (isRedacted(event) ? [`'${event.id}'`] : []));
  const names = [...(redacted.length > 0 ? ['the input'] : []), ...new Set(ids)];
  if (names.length === 0) return '';
  const last = names.at(-1) ?? '';
  const list = names.length === 1 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
  return (
    `Redacted: ${list}. Values derived from redacted values are not compared. If a decision, an ID, or a key depends on ` +
    'such a value, let `redact` keep enough of it, and record again. Otherwise:\n\n'
  );
}

/** `true` for a redacted `value`. The saga never reads a `given`. */
function isRedacted({ redacted }: Redactable['happened'][number]): boolean {
  return redacted?.includes('value') === true;
}
