import { decode, encode, type ClientAnswer, type Json } from '@mcp-saga/core';
import { TokenRefused, type Sealer } from '@mcp-saga/seal';
import type { DialectTraits } from './dialect-traits.ts';
import type { SealedSaga } from './sealed-saga.ts';

/** What a request brings to a turn: with it the turn can be brought to its end by somebody else. */
export interface BegunRequest {
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** What could be done for its client. */
  readonly traits: DialectTraits;
  /** What its client declared; undefined when that is not known. */
  readonly capabilities: Json | undefined;
}

/** Seals what a request brings, for the guard to keep while the turn runs: it shall read nothing. */
export async function sealRequest(
  sealer: Sealer,
  saga: SealedSaga,
  { answers, traits, capabilities }: BegunRequest,
): Promise<string> {
  const { asks, asksModel, checkpointAfterStep, defersEffects, runs } = traits;
  // How long its client would have waited matters to nobody else.
  const kept = { asks, asksModel, checkpointAfterStep, defersEffects, runs };
  const begun = { answers, traits: kept, capabilities };
  return await sealer.seal('response', saga.sagaId, saga.claims, [
    { bytes: encode({ begun }), compress: false },
  ]);
}

/** What a request brought, as the guard kept it. */
export async function openRequest(sealer: Sealer, saga: SealedSaga, request: string): Promise<BegunRequest> {
  const { streams, claims } = await sealer.open(request, {
    purpose: 'response',
    sid: saga.sagaId,
    ignoreExpiry: true,
  });
  const { begun } = decode(new TextDecoder().decode(streams[0])) as { readonly begun?: BegunRequest };
  // Of another token; or no request at all, but a response.
  if (claims.jti !== saga.claims.jti || begun === undefined) throw new TokenRefused('used');
  return { ...begun, traits: { ...begun.traits, maxHold: 0 } };
}
