import type { Json } from './json.ts';

/** Whether a value has more bytes than `limit`, as JSON in UTF-8. */
export function isLargerThan(limit: number, value: object | Json): boolean {
  const text = JSON.stringify(value);
  // A character is one to three bytes, and a pair of surrogates four.
  if (text.length > limit) return true;
  return text.length * 3 > limit && new TextEncoder().encode(text).length > limit;
}
