import type { Outcome } from '@mcp-saga/core';
import type { Claims, Sealer } from '@mcp-saga/seal';
import type { HostParts } from '../settings/host-parts.ts';
import type { HostLimits } from '../model/host-limits.ts';
import { sealSagaAs } from './sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

// Grace for late clients, after the deadline of a wait.
const afterDeadline = 60 * 60 * 1000;

/**
 * Expiry of a token, in milliseconds since the epoch: `limits.tokenTtlMs` after its issue, or an hour after the latest deadline,
 * and never later than `limits.maxLifetimeMs` after the start of the saga. Repeated requests gain nothing beyond that. Tokens that
 * only continue compensation may outlive the saga by an hour.
 */
export function expiryOf(
  host: Pick<HostParts, 'limits'>,
  claims: Pick<Claims, 'born'>,
  iat: number,
  { deadline, undoes }: Pick<Extract<Outcome, { status: 'suspended' }>, 'deadline' | 'undoes'>,
): number {
  const waits = deadline === undefined ? 0 : deadline + afterDeadline;
  const granted = Math.min(Math.max(iat + host.limits.tokenTtlMs, waits), endOfLife(host.limits, claims));
  return undoes === true ? Math.max(granted, waits, iat + afterDeadline) : granted;
}

/** End of the lifetime of a saga, in milliseconds since the epoch. */
export function endOfLife(
  { maxLifetimeMs }: Pick<HostLimits, 'maxLifetimeMs'>,
  { born }: Pick<Claims, 'born'>,
): number {
  return born + maxLifetimeMs;
}

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
