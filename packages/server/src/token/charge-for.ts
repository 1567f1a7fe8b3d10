import { canonicalize, digestText, type Claims } from '@mcp-saga/seal';
import type { Charge } from '../model/saga-store.ts';
import type { HostParts } from '../settings/host-parts.ts';

/**
 * Returns who pays for what a store keeps of a saga: its principal, by digest. All kinds of entries
 * count for one limit, `limits.maxKeptBytes`. Undefined for anonymous callers: all of
 * them would share one limit.
 * @param isLimited - `false` if the entry must be written whatever the principal has stored
 */
export async function chargeFor(
  { limits, keys: { tenant } }: Pick<HostParts, 'limits' | 'keys'>,
  { principal }: Pick<Claims, 'principal'>,
  { isLimited }: { readonly isLimited: boolean } = { isLimited: true },
): Promise<Charge | undefined> {
  if (principal === null) return undefined;
  const to = await digestText(tenant === undefined ? principal : canonicalize([tenant, principal]));
  return isLimited ? { to, limit: limits.maxKeptBytes } : { to };
}
