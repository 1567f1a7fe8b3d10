import type { DialectTraits } from '../model/dialect-traits.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn } from '../model/turn.ts';
import { beginCall, resumeTokenMethod, resumeTokenRefused } from './parts/begin-call.ts';
import { unaskedOf, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/client-call.ts';
import { toInterimResult } from './parts/interim-result.ts';

/** Nobody can be asked in the request; the model that calls can be asked in its result, and comes again when it likes. */
export const resumeTokenTraits: DialectTraits = {
  asks: [],
  asksModel: true,
  // Models often call again at once.
  holdsParts: true,
};

/**
 * Resume tokens, for clients that declare nothing: an unfinished call is an ordinary result, which tells the model to call
 * again with `resumeToken`, perhaps `answers`, and the same arguments.
 */
export const resumeToken: Dialect = {
  name: 'resume token',
  refused: resumeTokenRefused,
  carries: () => false,
  serves: () => true,
  answer: async (host, call) => {
    const traits = { ...resumeTokenTraits, ...unaskedOf(call.client) };
    return await toTokenResult(host, call, await beginCall(host, call, resumeTokenMethod, traits));
  },
};

/** Encodes a turn for the wire. */
export async function toTokenResult(host: SagaHostCore, call: ClientCall, turn: SagaTurn): Promise<object> {
  return turn.status === 'suspended' ? await toInterimResult(host, turn) : call.toResult(turn);
}
