import type { Outcome } from '@mcp-saga/core';
import type { Claims } from '@mcp-saga/seal';
import type { HostSettings } from './host-options.ts';

// Grace after the time that a saga waits for, for clients that come back late.
const afterDeadline = 60 * 60 * 1000;

/**
 * Expiry of a token, in milliseconds since the epoch: `tokenTtl` after its own issue, or an hour after the deadline that
 * the saga waits for, and never later than `maxLifetime` after the start of the saga. A client that only repeats its
 * request gains nothing beyond that. A token that only continues compensation may outlive the saga by an hour. (T6, E3)
 */
export function expiryOf(
  settings: Pick<HostSettings, 'tokenTtl' | 'maxLifetime'>,
  claims: Pick<Claims, 'born'>,
  iat: number,
  { deadline, undoes }: Pick<Extract<Outcome, { status: 'suspended' }>, 'deadline' | 'undoes'>,
): number {
  const waits = deadline === undefined ? 0 : deadline + afterDeadline;
  const granted = Math.min(Math.max(iat + settings.tokenTtl, waits), endOfLife(settings, claims));
  return undoes === true ? Math.max(granted, waits, iat + afterDeadline) : granted;
}

/** End of the lifetime of a saga, in milliseconds since the epoch. */
export function endOfLife(
  { maxLifetime }: Pick<HostSettings, 'maxLifetime'>,
  { born }: Pick<Claims, 'born'>,
): number {
  return born + maxLifetime;
}
