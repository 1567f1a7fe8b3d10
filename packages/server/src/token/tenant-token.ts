import { fromBase64Url, toBase64Url, TokenRefused, type Claims, type Sealer } from '@mcp-saga/seal';
import { isTenant, type Keys } from '../settings/host-keys.ts';
import { atAnyTime, readSealedJson } from './sealed-saga.ts';

/** Separates the name of a tenant from a token. Tokens contain no tilde. */
const separator = '~';

/** Token that is used without a caller, and its tenant. */
export interface NamedToken {
  readonly tenant: string;
  readonly token: string;
}

/**
 * Adds the tenant of the keys to a token of the operator, readable and before the token:
 * `<tenant in base64url>~<token>`. A changed name leads to keys that cannot open the token.
 */
export function nameTenant({ tenant }: Pick<Keys, 'tenant'>, token: string): string {
  return tenant === undefined
    ? token
    : toBase64Url(new TextEncoder().encode(tenant)) + separator + token;
}

/** Splits a token of {@link nameTenant}. Returns undefined for any other token. */
export function readTenant(token: unknown): NamedToken | undefined {
  if (typeof token !== 'string') return undefined;
  const at = token.slice(0, maxNameLength).indexOf(separator);
  const bytes = at < 1 ? undefined : fromBase64Url(token.slice(0, at));
  if (bytes === undefined) return undefined;
  const tenant = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return isTenant(tenant) ? { tenant, token: token.slice(at + 1) } : undefined;
}

// 256 characters of at most three bytes each, in base64url.
const maxNameLength = 1_024;

/**
 * Adds the tenant of the keys to a ticket, sealed and before the ticket:
 * `<sealed tenant>~<ticket>`. Anyone can make a link, so a name that was made up must load no keys.
 */
export async function sealTenant(
  { tenant, links }: Pick<Keys, 'tenant' | 'links'>,
  sagaId: string,
  claims: Claims,
  ticket: string,
): Promise<string> {
  if (tenant === undefined || links === undefined) return ticket;
  const bytes = JSON.stringify(tenant);
  return (
    (await links.seal(purpose, sagaId, claims, [{ bytes, compress: false }])) + separator + ticket
  );
}

/** Splits a ticket of {@link sealTenant}. Throws TokenRefused for any other text. */
export async function openTenant(links: Sealer | undefined, text: string): Promise<NamedToken> {
  const [sealed = '', token, ...others] = text.split(separator);
  if (links === undefined || token === undefined || others.length > 0)
    throw new TokenRefused('malformed');
  const { streams } = await links.open(sealed, { purpose, ...atAnyTime });
  const tenant = readSealedJson(streams[0]);
  if (!isTenant(tenant)) throw new TokenRefused('malformed');
  return { tenant, token };
}

// Only tickets have equal texts when they are sealed again, and a repeated delivery has the same
// link.
const purpose = 'ticket';
