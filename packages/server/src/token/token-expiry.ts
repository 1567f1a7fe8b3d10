import type { Outcome } from '@mcp-saga/core';
import type { Claims } from '@mcp-saga/seal';
import type { HostParts } from '../settings/host-parts.ts';
import type { HostLimits } from '../model/host-limits.ts';

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
