import type { Question } from '@mcp-saga/server';

/** A question as far as a host has to know it, as a text. */
export function questionKey({ need, accept, hasFallback, isUnsupported }: Question): string {
  const by = accept === undefined ? '' : ` of the ${accept}`;
  return `${need}${by}${hasFallback ? ' or a fallback' : ''}${isUnsupported === true ? ' without the client' : ''}`;
}
