import { chain, type MaybePromise } from '../model/maybe-promise.ts';
import type { Binding } from '../token/claims.ts';
import { hmac, lengthPrefix } from '../digest/hash.ts';

const format = 'mcp-saga/1';

/**
 * The key that seals the tokens of one purpose, audience, key id and saga, by HKDF with SHA-256 (RFC 5869):
 *
 *     PRK = HKDF-Extract(salt 'mcp-saga/1', ikm key)
 *     key = HKDF-Expand(PRK, info, 32)
 *     info = length-prefixed('mcp-saga/1', purpose, audience, kid, sid)
 *
 * where each text is preceded by the number of its UTF-8 bytes, in four bytes, big-endian. With this key any JWE
 * library opens a token; what is inside is described in `layout.ts`.
 *
 * @param key The 32 bytes of the ring's key.
 */
export function deriveTokenKey(key: Uint8Array, binding: Binding): MaybePromise<Uint8Array> {
  return chain(extract(key), (prk) => hmac(prk, expandInput(binding)));
}

/** HKDF-Extract of the key schedule: the pseudorandom key that every token key comes from. */
export function extract(key: Uint8Array): MaybePromise<Uint8Array> {
  return hmac(new TextEncoder().encode(format), key);
}

/** What HKDF-Expand runs its one HMAC over: the info, then the number of the block, 1, as 32 bytes need no second. */
export function expandInput({ purpose, audience, kid, sid }: Binding): Uint8Array<ArrayBuffer> {
  const info = lengthPrefix([format, purpose, audience, kid, sid]);
  const input = new Uint8Array(info.length + 1);
  input.set(info);
  input[info.length] = 1;
  return input;
}
