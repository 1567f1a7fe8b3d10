import type { RecordedEvent } from '../recorded-event.ts';

/** A recording as far as it says what of it was redacted. */
interface Redactable {
  readonly redacted?: readonly 'input'[];
  readonly happened: readonly Pick<RecordedEvent, 'id' | 'redacted'>[];
}

/**
 * From which of the things that happened on they may be made of something that was redacted, or decided by it: in the
 * recording it is not what it was. Infinity where nothing was redacted that a saga gets to see.
 */
export function madeOfRedactedFrom({ redacted = [], happened }: Redactable): number {
  if (redacted.length > 0) return 0;
  const first = happened.findIndex(isRedacted);
  return first === -1 ? Number.POSITIVE_INFINITY : first + 1;
}

/**
 * What is to be thought of a difference behind something that was redacted, to be put before what is thought of others;
 * empty where nothing was.
 *
 * @param at - how many things had happened before it
 */
export function redactedNote({ redacted = [], happened }: Redactable, at: number): string {
  const ids = happened.slice(0, at).flatMap((event) => (isRedacted(event) ? [`'${event.id}'`] : []));
  const names = [...(redacted.length > 0 ? ['the input'] : []), ...new Set(ids)];
  if (names.length === 0) return '';
  const list = names.length === 1 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const text = `${list} ${names.length === 1 ? 'was' : 'were'} redacted; what is made of ${names.length === 1 ? 'it' : 'them'} cannot be compared.`;
  return (
    `${text.charAt(0).toUpperCase()}${text.slice(1)} Where the saga decides by that, or makes ids or keys of it, have ` +
    '`redact` keep so much of it and record it anew. Where that is not why:\n\n'
  );
}

/** What code was given does not come back to it; what came of it does. */
function isRedacted({ redacted }: Redactable['happened'][number]): boolean {
  return redacted?.includes('value') === true;
}
