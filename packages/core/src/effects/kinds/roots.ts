import type { Effect, Spec } from '../parts/effect.ts';
import { isJsonObject } from '../../values/json.ts';
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
    need: 'roots',
    params: () => ({}),
    accept: (_, { roots: listed }, given) => {
      if (!Array.isArray(listed)) return { reason: 'roots: expected an array' };
      const bad = listed.findIndex(
        (root) => !isJsonObject(root) || typeof root['uri'] !== 'string',
      );
      return bad === -1
        ? accepted('listed', listed, given)
        : { reason: `roots[${bad}].uri: expected a string` };
    },
  },
};
