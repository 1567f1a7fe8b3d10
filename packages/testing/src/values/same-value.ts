import type { Json } from '@mcp-saga/server';
import { encode, isJsonObject } from '@mcp-saga/server/internal';

/** `true` if two values are equal in a journal, with fields in any order. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(JSON.parse(encode(value)), (_, inner: Json) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
