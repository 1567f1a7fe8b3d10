import { TokenRefused, digestText, type Claims } from '@mcp-saga/seal';
import type { HostParts, OutsideAccess } from '../../settings/host-parts.ts';
import { readSealed, writeSealed } from '../../store/sealed-values.ts';
import type { Charge } from '../../model/saga-store.ts';
import { askStore, forgottenAt } from './stored-answers.ts';

// A link names its ticket, which lies sealed in the store: chat tools and mail programs break long
// links, and a ticket holds the message and the whole form. The name is a secret of the saga, and the
// store knows only a digest of it, so that it can make no link. A ticket is sealed for its name, so
// that the store cannot exchange two of them.

const named = /^[\w-]{22}$/;

/**
 * Stores a sealed ticket under its name, as often as its link is made. Returns `false` if the store
 * keeps too much for the principal of the saga: the link must then hold the ticket.
 * @throws SagaHostError `store_down`
 */
export async function storeTicket(
  host: HostParts,
  { store }: OutsideAccess,
  name: string,
  sealed: string,
  { claims, charge }: { readonly claims: Claims; readonly charge: Charge | undefined },
): Promise<boolean> {
  const id = await idOf(name);
  const options = { expiresAtMs: forgottenAt(host, claims), charge };
  // `other` is the ticket of an earlier attempt: equal tickets have one name.
  const status = await askStore(host, () => writeSealed(store, 'ticket', id, sealed, 0, options));
  if (status === 'full') host.observer.reject('guard_full');
  return status !== 'full';
}

/** Sealed ticket of a link. */
export interface FoundTicket {
  readonly sealed: string;
  /** Name in the link. Undefined: the link holds the ticket itself. */
  readonly name: string | undefined;
}

/**
 * Finds the sealed ticket of the last part of a link.
 * @throws TokenRefused `unknown_handle` for a name that the store does not know
 * @throws SagaHostError `store_down`
 */
export async function findTicket(
  host: Pick<HostParts, 'observer'>,
  { store }: OutsideAccess,
  text: string,
): Promise<FoundTicket> {
  if (!named.test(text)) return { sealed: text, name: undefined };
  const id = await idOf(text);
  const stored = await askStore(host, () => readSealed(store, 'ticket', id));
  if (stored === undefined) throw new TokenRefused('unknown_handle');
  return { sealed: stored.sealed, name: text };
}

async function idOf(name: string): Promise<string> {
  return (await digestText(`ticket ${name}`)).slice(0, 22);
}
