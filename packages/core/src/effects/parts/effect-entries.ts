import type { EntryType } from '../../journal/entry-types.ts';
import { decode, encode } from '../../values/codec.ts';
import type { Acceptance, Given, TaskEnd } from './effect.ts';

/** Entry types of a question without a usable answer. */
export const unanswered: readonly EntryType[] = ['clientError', 'timedOut', 'cannot', 'withdrawn'];

/** Entry for an answer with a value. The body gets the decoded value, as on every replay. */
export function accepted(type: EntryType, value: unknown, answer: Given): Acceptance {
  const text = encode(value);
  return { entry: { type, text, answer }, value: decode(text) };
}

/** Outcome of a task with an encoded value. The body gets the decoded value, as on every replay. */
export function ended(type: EntryType, text: string): TaskEnd {
  return { entry: { type, text }, value: decode(text) };
}

/**
 * Deadline of a question. Times are rounded up: tokens hold whole milliseconds, and nothing is due
 * early.
 */
export function untilTtl(
  { ttl }: { readonly ttl: number | undefined },
  since: number,
): number | undefined {
  return ttl === undefined ? undefined : Math.ceil(since + ttl);
}
