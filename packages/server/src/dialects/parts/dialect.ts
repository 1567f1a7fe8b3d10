/**
 * What the dialects of MCP's own requests share: their type, the start of a call
 * (`begin-call.ts`), all turns in one request (`in-one-request.ts`), the text and the arguments
 * for a model that calls again (`interim-result.ts`, `model-arguments.ts`), and whether the client
 * is still there (`client-presence.ts`).
 */
import type { DialectCapabilities } from '../../model/dialect-capabilities.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { FrozenAnswer } from '../../wire/wire-error.ts';
import type { ClientFacts, ClientCall } from '../../model/call-types.ts';

/**
 * Serves sagas to clients that know only MCP: decodes a request to a call of the host, and encodes
 * the turn.
 */
export interface Dialect {
  readonly name: string;
  /** `true` if a request has a token of this dialect only. */
  carries(call: ClientCall): boolean;
  /** `true` if the dialect serves the client of a new call. The first dialect wins. */
  serves(call: Pick<ClientCall, 'method' | 'saga' | 'client'>, host: SagaHostCore): boolean;
  answer(host: SagaHostCore, call: ClientCall): Promise<object>;
  /** Fixed response to a rejected token. */
  readonly refused: FrozenAnswer;
}

/** Returns the reason why a client cannot be asked, if its capabilities are not the reason. */
export function unaskedOf({
  era,
  isSession,
  canBeModern,
}: ClientFacts): Pick<DialectCapabilities, 'unasked'> {
  if (era === 'modern' || isSession) return {};
  const why =
    'the server keeps no session, so it cannot ask a client of MCP 2025-11-25 or older over HTTP. ';
  // A server of version 1 of the SDK speaks no newer MCP, whatever its client can do.
  const advice = canBeModern
    ? "Create the client of the official SDK with versionNegotiation: { mode: 'auto' }. Or serve sessions or stdio, or call the " +
      'tool by tools/callSaga.'
    : 'Serve sessions (sessionIdGenerator of the transport) or stdio, attach the sagas to a server of version 2 of the ' +
      'SDK, or call the tool by tools/callSaga.';
  const unasked = why + advice;
  return { unasked };
}

/**
 * `true` if the client can answer questions of the saga. Roots alone count only if the saga needs
 * roots.
 */
export function canBeAsked({ client, saga }: Pick<ClientCall, 'saga' | 'client'>): boolean {
  return client.asks.some((need) => need !== 'roots' || saga.needs.includes('roots'));
}
