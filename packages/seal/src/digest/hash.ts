import type { MaybePromise } from '../model/maybe-promise.ts';
import { portableBase64Url } from '../platform/base64url.ts';
import { loadNode } from '../platform/node.ts';

/** HMAC-SHA256 (RFC 2104): 32 bytes. */
export function hmac(key: Uint8Array, data: Uint8Array): MaybePromise<Uint8Array> {
  const node = loadNode();
  if (node === undefined) return hmacPortable(key, data);
  const { crypto } = node;
  return new Uint8Array(crypto.createHmac('sha256', crypto.createSecretKey(key)).update(data).digest());
}

/** HMAC-SHA256 by WebCrypto. */
export async function hmacPortable(key: Uint8Array, data: Uint8Array): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey(
    'raw',
    new Uint8Array(key),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, new Uint8Array(data)));
}

/** SHA-256 over the UTF-8 bytes of a text, as base64url. */
export function digestText(text: string): MaybePromise<string> {
  const node = loadNode();
  if (node === undefined) return digestTextPortable(text);
  const { crypto } = node;
  if (crypto.hash !== undefined) return crypto.hash('sha256', text, 'base64url');
  return crypto.createHash('sha256').update(text, 'utf8').digest('base64url');
}

/** The same by WebCrypto. */
export async function digestTextPortable(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return portableBase64Url.encode(new Uint8Array(bytes));
}

/** Joins texts without ambiguity: each as its UTF-8 bytes after their number, in four bytes, big-endian. */
export function lengthPrefix(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const encoded = parts.map((part) => encoder.encode(part));
  const joined = new Uint8Array(encoded.reduce((sum, part) => sum + 4 + part.length, 0));
  const view = new DataView(joined.buffer);
  let offset = 0;
  for (const part of encoded) {
    view.setUint32(offset, part.length);
    joined.set(part, offset + 4);
    offset += 4 + part.length;
  }
  return joined;
}

/** The one secret of a saga: 32 random bytes, sealed into its tokens, never shown. */
export function createSecret(): Uint8Array {
  return randomBytes(32);
}

/**
 * 32 bytes that only this secret, label and parts give, so that the same step has the same idempotency key on every
 * fork and across key rotation: HMAC-SHA256 over `label` and `parts`, each length-prefixed.
 *
 * @throws TypeError for a secret that is not 32 bytes long.
 */
export function deriveFromSecret(
  secret: Uint8Array,
  label: string,
  parts: readonly string[],
): MaybePromise<Uint8Array> {
  if (secret.length !== 32) throw new TypeError('The secret of a saga has 32 bytes');
  return hmac(secret, lengthPrefix([label, ...parts]));
}

/** Random bytes from the platform's generator; never pooled, for a snapshot of the process would repeat a pool. */
export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
