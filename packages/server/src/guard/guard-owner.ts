import { digestText } from '@mcp-saga/seal';
import type { GuardClaim } from '../model/guard.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { HostParts, Observer } from '../settings/host-parts.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

/**
 * Names the principal of a turn for the guard, by a digest. Turns without a principal are not counted: otherwise one
 * client could use up the share of all.
 *
 * @param request - `keptBytes` is undefined for turns without a limit, such as an undo
 */
export async function ownerOf(
  { limits }: Pick<HostParts, 'limits'>,
  { claims: { principal } }: SealedSaga,
  { keptBytes }: { readonly keptBytes?: number },
): Promise<Pick<GuardClaim, 'owner'>> {
  if (principal === null) return {};
  const maxBytes = keptBytes === undefined ? Number.MAX_SAFE_INTEGER : limits.maxKeptBytesPerPrincipal;
  return { owner: { id: await digestText(principal), maxBytes } };
}

/** Makes the error of a turn beyond a limit of the guard. The token of the turn stays good. */
export function guardFull({ reject }: Pick<Observer, 'reject'>): SagaHostError {
  reject('guard_full');
  return new SagaHostError(
    'guard_full',
    'The server keeps too much for this caller now. Send it again later.',
  );
}
