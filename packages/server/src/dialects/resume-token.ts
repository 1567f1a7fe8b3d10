import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { ClientHolder } from '../model/holder.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn } from '../model/turn.ts';
import { beginCall, resumeTokenRefused } from './parts/begin-call.ts';
import { resumeTokenMethod } from '../token/sealed-saga.ts';
import { unaskedOf, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/call-types.ts';
import { toInterimResult } from './parts/interim-result.ts';

/** Abilities of a client without questions: only the result can ask the calling model. */
export const resumeTokenCapabilities: DialectCapabilities = {
  asks: [],
  asksModel: true,
  // Models often call again at once.
  holdsParts: true,
};

/** Holder of the saga of a call whose model is told to come back. */
export const heldByModel: ClientHolder = { kind: 'client', returns: 'told' };

/**
 * Resume tokens, for clients without capabilities: an unfinished call returns an ordinary result,
 * which asks the model to call again with `resumeToken`, the same arguments, and `answers` if
 * needed.
 */
export const resumeToken: Dialect = {
  name: 'resume token',
  refused: resumeTokenRefused,
  carries: () => false,
  serves: () => true,
  answer: async (host, call) => {
    const dialect = { ...resumeTokenCapabilities, ...unaskedOf(call.client) };
    const turn = await beginCall(host, call, resumeTokenMethod, dialect, heldByModel);
    return await toTokenResult(host, call, turn);
  },
};

/** Encodes a turn for the wire. */
export async function toTokenResult(
  host: SagaHostCore,
  call: ClientCall,
  turn: SagaTurn,
): Promise<object> {
  return turn.status === 'suspended'
    ? await toInterimResult(host, call.saga, turn)
    : call.toResult(turn);
}
