import type { Outcome } from '@mcp-saga/core';
import type { Claims } from '@mcp-saga/seal';
import type { HostSettings } from './host-options.ts';

/** How long a token stays good after the time a saga waits for. */
const afterDeadline = 60 * 60 * 1000;

/**
 * When a token expires: `tokenTtl` after the client last brought the saga forward, or an hour after what it waits
 * for, and never later than `maxLifetime` after its start. To be asked again, or to be handed a checkpoint, does not
 * prolong a saga. One that is being undone can always come back for an hour: it may be late because it has failed, and
 * nothing but undoing is done with its token. (T6, E3)
 */
export function expiryOf(
  settings: Pick<HostSettings, 'tokenTtl' | 'maxLifetime'>,
  claims: Claims,
  iat: number,
  outcome: Pick<Extract<Outcome, { status: 'suspended' }>, 'accepted' | 'deadline' | 'undoes'>,
): number {
  const brought = claims.turn === 0 || outcome.accepted > 0;
  const ttl = brought ? iat + settings.tokenTtl : claims.exp;
  const { deadline, undoes } = outcome;
  const waits = deadline === undefined ? 0 : deadline + afterDeadline;
  const granted = Math.min(Math.max(ttl, waits), claims.born + settings.maxLifetime);
  return undoes === true ? Math.max(granted, waits, iat + afterDeadline) : granted;
}
