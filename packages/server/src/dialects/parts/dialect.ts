import type { DialectTraits } from '../../model/dialect-traits.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { FrozenAnswer } from '../../wire/wire-error.ts';
import type { ClientFacts, ClientCall } from '../../model/client-call.ts';

/** Serves sagas to clients that do not know them: decodes a request to a call of the host, and encodes the turn. */
export interface Dialect {
  readonly name: string;
  /** Whether a request brings something that only this dialect hands out: it goes on with it then, whoever sends it. */
  carries(call: ClientCall): boolean;
  /** Whether a client that starts a call is served by it. The first one that says so serves. (W2) */
  serves(call: Pick<ClientCall, 'method' | 'saga' | 'client'>, host: SagaHostCore): boolean;
  answer(host: SagaHostCore, call: ClientCall): Promise<object>;
  /** How it answers a token that does not open. */
  readonly refused: FrozenAnswer;
}

/** The reason why a client cannot be asked, if its capabilities are not the reason. */
export function unaskedOf({ era, isSession }: ClientFacts): Pick<DialectTraits, 'unasked'> {
  if (era === 'modern' || isSession) return {};
  const unasked =
    'the server keeps no session, so it cannot ask a client of MCP 2025-11-25 or older over HTTP. Create the client of the ' +
    "official SDK with versionNegotiation: { mode: 'auto' }. Or serve sessions or stdio, or call the tool by tools/callSaga.";
  return { unasked };
}

/** `true` if the client can be asked what this saga may ask. Roots alone count only if the saga needs them. */
export function canBeAsked({ client, saga }: Pick<ClientCall, 'saga' | 'client'>): boolean {
  return client.asks.some((need) => need !== 'roots' || saga.needs.includes('roots'));
}
