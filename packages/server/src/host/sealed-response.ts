import { decode, encode, SagaError } from '@mcp-saga/core';
import { TokenRefused, type Sealer } from '@mcp-saga/seal';
import { publicMessageOf } from './public-message.ts';
import type { SealedSaga } from './sealed-saga.ts';
import type { SagaTurn } from './turn.ts';

/** Seals the response of a turn, for the guard to keep: it shall read nothing. */
export async function sealResponse(sealer: Sealer, saga: SealedSaga, turn: SagaTurn): Promise<string> {
  const kept = turn.status === 'failed' ? { ...turn, error: publicMessageOf(turn.saga, turn.error) } : turn;
  return await sealer.seal('response', saga.sagaId, saga.claims, [{ bytes: encode(kept), compress: false }]);
}

/** A response as the guard kept it. An error has kept its public message only. */
export async function openResponse(sealer: Sealer, saga: SealedSaga, response: string): Promise<SagaTurn> {
  const { streams, claims } = await sealer.open(response, {
    purpose: 'response',
    sid: saga.sagaId,
    ignoreExpiry: true,
  });
  const kept = decode(new TextDecoder().decode(streams[0])) as SagaTurn;
  // Of another token; or no response at all, but what a request brought.
  if (claims.jti !== saga.claims.jti || !('status' in kept)) throw new TokenRefused('used');
  return kept.status === 'failed' ? { ...kept, error: new SagaError(String(kept.error)) } : kept;
}
