import type { Outcome } from '@mcp-saga/core';
import type { Claims } from '@mcp-saga/seal';
import type { HostSettings } from './host-options.ts';

/** How long a token stays good after the time a saga waits for. */
const afterDeadline = 60 * 60 * 1000;

/**
 * When a token expires: `tokenTtl` after the client last brought the saga forward, or an hour after what it waits
 * for, and never later than `maxLifetime` after its start. To be asked again, or to be handed a checkpoint, does not
 * prolong a saga. (T6)
 */
export function expiryOf(
  settings: Pick<HostSettings, 'tokenTtl' | 'maxLifetime'>,
  claims: Claims,
  iat: number,
  outcome: Pick<Extract<Outcome, { status: 'suspended' }>, 'accepted' | 'deadline'>,
): number {
  const brought = claims.turn === 0 || outcome.accepted > 0;
  const ttl = brought ? iat + settings.tokenTtl : claims.exp;
  const deadline = outcome.deadline === undefined ? 0 : outcome.deadline + afterDeadline;
  return Math.min(Math.max(ttl, deadline), claims.born + settings.maxLifetime);
}
