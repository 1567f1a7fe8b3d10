import type { Claims, Sealer } from '@mcp-saga/seal';
import { sealSagaAs } from './sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

// The token itself is granted 30 seconds of skew; so is this one, on the other side.
const afterExpiry = 60_000;

/** How long a cancel token is good, in milliseconds. */
export const cancelLifetime: number = 30 * 24 * 60 * 60 * 1000;

/**
 * A token that only cancels, opens only after the turn's own token has expired, and needs no user: for a delayed queue
 * of the operator's. (E8)
 */
export async function sealCancelToken(
  sealer: Sealer,
  saga: SealedSaga,
): Promise<{ readonly cancelToken: string; readonly cancelAfter: number }> {
  const cancelAfter = saga.claims.exp + afterExpiry;
  const claims = { ...saga.claims, iat: cancelAfter, exp: cancelExpiry(saga.claims) };
  return { cancelToken: await sealSagaAs('cancel', sealer, { ...saga, claims }), cancelAfter };
}

/** When the cancel token of a turn expires (ms since the epoch). */
export function cancelExpiry({ exp }: Pick<Claims, 'exp'>): number {
  return exp + afterExpiry + cancelLifetime;
}

/**
 * When the token of a turn expires that was taken in the place of a client that has gone (ms since the epoch). Nobody holds it: it
 * only says when the queue is to come. That is when the saga goes on; or, where whoever took the turn goes on with it, a minute later.
 */
export function expiryOfLeft(iat: number, wait: number): number {
  return wait > 0 ? iat + wait - afterExpiry : iat;
}
