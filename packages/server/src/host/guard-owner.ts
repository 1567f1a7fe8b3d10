import { digestText } from '@mcp-saga/seal';
import type { GuardClaim } from '../guard/guard.ts';
import { SagaHostError } from './errors.ts';
import type { HostSettings } from './host-options.ts';
import type { SealedSaga } from './sealed-saga.ts';

/**
 * Names the principal for whom a guard keeps what a turn makes, by a digest. Without a principal nothing is counted: one
 * client could otherwise use up the share of all.
 *
 * @param request - `keptBytes` is undefined for a turn that is taken however much is kept, such as an undo
 */
export async function ownerOf(
  { limits }: Pick<HostSettings, 'limits'>,
  { claims: { principal } }: SealedSaga,
  { keptBytes }: { readonly keptBytes?: number },
): Promise<Pick<GuardClaim, 'owner'>> {
  if (principal === null) return {};
  const maxBytes = keptBytes === undefined ? Number.MAX_SAFE_INTEGER : limits.maxKeptBytesPerPrincipal;
  return { owner: { id: await digestText(principal), maxBytes } };
}

/** The error of a turn for which the guard would keep too much. Its token stays good. */
export function guardFull({ reject }: Pick<HostSettings, 'reject'>): SagaHostError {
  reject('guard-full');
  return new SagaHostError(
    'guard_full',
    'The server keeps too much for this caller now. Send it again later.',
  );
}
