import { chain, type MaybePromise } from '../model/maybe-promise.ts';
import type { Binding } from '../token/claims.ts';
import { hmac, lengthPrefix } from '../digest/hash.ts';

const format = 'mcp-saga/1';

/**
 * Derives the key of the tokens of a purpose, audience, key ID, and saga, by HKDF with SHA-256 (RFC
 * 5869):
 *
 *     PRK = HKDF-Extract(salt 'mcp-saga/1', ikm key)
 *     key = HKDF-Expand(PRK, info, 32)
 *     info = length-prefixed('mcp-saga/1', purpose, audience, kid, sid)
 *
 * Any JWE library opens a token with this key. `layout.ts` describes the plaintext.
 * @param key - 32 bytes of a key of the ring
 * @example
 * ```ts
 * const binding = { purpose: 'token', audience: 'shop', kid: 'k1', sid: 'A'.repeat(22) } as const;
 * const key = await deriveTokenKey(new Uint8Array(32), binding);
 * console.log(key.length === 32);
 * ```
 */
export function deriveTokenKey(key: Uint8Array, binding: Binding): MaybePromise<Uint8Array> {
  return chain(extract(key), (prk) => hmac(prk, expandInput(binding)));
}

/** HKDF-Extract of the key schedule: the pseudorandom key behind every token key. */
export function extract(key: Uint8Array): MaybePromise<Uint8Array> {
  return hmac(new TextEncoder().encode(format), key);
}

/** Input of the only HMAC of HKDF-Expand: the info, then the block number 1. */
export function expandInput({ purpose, audience, kid, sid }: Binding): Uint8Array<ArrayBuffer> {
  return expanding([format, purpose, audience, kid, sid]);
}

/** The same for a secret with a name, which no token has for a purpose. */
export function secretInput(audience: string, kid: string, name: string): Uint8Array<ArrayBuffer> {
  return expanding([format, 'secret', audience, kid, name]);
}

function expanding(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const info = lengthPrefix(parts);
  const input = new Uint8Array(info.length + 1);
  input.set(info);
  input[info.length] = 1;
  return input;
}
