import type { Sealer } from '@mcp-saga/seal';
import { sealSagaAs, type SealedSaga } from './sealed-saga.ts';

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
  const claims = { ...saga.claims, iat: cancelAfter, exp: cancelAfter + cancelLifetime };
  return { cancelToken: await sealSagaAs('cancel', sealer, { ...saga, claims }), cancelAfter };
}
