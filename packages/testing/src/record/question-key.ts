import type { Question } from '@mcp-saga/server';

/** A question as far as a host has to know it, as a text. */
export function questionKey({ need, accept, hasFallback }: Question): string {
  return `${need}${accept === undefined ? '' : ` of the ${accept}`}${hasFallback ? ' or a fallback' : ''}`;
}
