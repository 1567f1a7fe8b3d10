import type { Effect, Spec } from '../parts/effect.ts';
import { isJsonObject, type Json } from '../../values/json.ts';
import { accepted } from '../parts/effect-entries.ts';

/** Specification of a request for the roots of the client. */
export interface RootsSpec extends Spec {
  readonly kind: 'roots';
}

export const roots: Effect<RootsSpec> = {
  place: 'client',
  entries: ['listed', 'clientError', 'cannot', 'withdrawn'],
  question: {
    type: 'roots',
    need: () => 'roots',
    params: () => ({}),
    accept: (_, { roots: listed }, given) => {
      if (!Array.isArray(listed)) return { reason: 'roots: expected an array' };
      const problem = listed.map(problemOf).find((reason) => reason !== undefined);
      return problem === undefined ? accepted('listed', listed, given) : { reason: problem };
    },
  },
};

/** Returns what a root lacks, or undefined for a valid root. */
function problemOf(root: Json, index: number): string | undefined {
  const { uri, name = '' } = isJsonObject(root) ? root : {};
  if (typeof uri !== 'string') return `roots[${index}].uri: expected a string`;
  return typeof name === 'string' ? undefined : `roots[${index}].name: expected a string`;
}
