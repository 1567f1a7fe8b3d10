import type { Base64UrlCodec } from '../platform/base64url.ts';
import { TokenRefused } from '../model/errors.ts';
import { paddingUnit } from './layout.ts';

/** A token taken apart, and found to be one that this format writes; nothing in it is authenticated yet. */
export interface Envelope {
  /** The encoded header, which is the additional data of the encryption. */
  readonly header: string;
  readonly kid: string;
  readonly sid: string;
  readonly nonce: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly tag: Uint8Array;
}

/** Reads and measures tokens without any key. */
export interface EnvelopeReader {
  /**
   * Takes a token apart.
   *
   * @throws TokenRefused for anything that is not, character for character, what this format writes.
   */
  read(token: unknown): Envelope;
}

const nonceLength = 16;
const tagLength = 22;

/** Characters of a token: header, no encrypted key, 12 bytes of nonce, the ciphertext, 16 bytes of tag. */
export function measureToken(headerLength: number, plaintextLength: number): number {
  return headerLength + 2 + nonceLength + 1 + Math.ceil((plaintextLength * 4) / 3) + 1 + tagLength;
}

/**
 * Prepares to read tokens of these keys. Decryption alone is not enough: JOSE libraries accept several texts for one
 * token (white space, padding, spare bits, other headers), and each would count as a token of its own.
 */
export function createEnvelopeReader(
  headers: readonly HeaderFormat[],
  codec: Base64UrlCodec,
  maxTokenBytes: number,
): EnvelopeReader {
  return {
    read: (token) => {
      if (typeof token !== 'string') throw new TokenRefused('malformed');
      if (token.length > maxTokenBytes) throw new TokenRefused('too_large');
      const end = token.indexOf('.');
      const header = token.slice(0, Math.max(end, 0));
      const nonceStart = end + 2;
      const textStart = nonceStart + nonceLength + 1;
      const tagStart = token.length - tagLength;
      const framed =
        token[end + 1] === '.' &&
        token[textStart - 1] === '.' &&
        tagStart > textStart &&
        token[tagStart - 1] === '.';
      if (!framed) throw new TokenRefused('malformed');
      // A further dot is in no part's alphabet.
      const nonce = codec.decode(token.slice(nonceStart, textStart - 1));
      const ciphertext = codec.decode(token.slice(textStart, tagStart - 1));
      const tag = codec.decode(token.slice(tagStart));
      if (nonce?.length !== 12 || tag?.length !== 16) throw new TokenRefused('malformed');
      if (ciphertext === undefined || ciphertext.length === 0 || ciphertext.length % paddingUnit !== 0) {
        throw new TokenRefused('malformed');
      }
      const { kid, sid } = readHeader(header, headers, codec);
      return { header, kid, sid, nonce, ciphertext, tag };
    },
  };
}

function readHeader(
  header: string,
  headers: readonly HeaderFormat[],
  codec: Base64UrlCodec,
): Pick<Envelope, 'kid' | 'sid'> {
  for (const format of headers) {
    const sid = header.length === format.length ? format.read(header) : undefined;
    if (sid !== undefined) return { kid: format.kid, sid };
  }
  throw new TokenRefused(isOfAnotherKey(header, codec) ? 'unknown_key' : 'malformed');
}

function isOfAnotherKey(header: string, codec: Base64UrlCodec): boolean {
  // No header of this format is longer; nothing longer is worth decoding.
  if (header.length > 256) return false;
  const kid = /"kid":"([^"]*)"/.exec(codec.decodeLatin1(header))?.[1];
  return isKid(kid) && createHeaderFormat(kid, codec).read(header) !== undefined;
}

/** The members of a token's header, in the order they are written. */
export interface TokenHeader {
  readonly alg: 'dir';
  readonly enc: 'A256GCM';
  readonly typ: 'saga1+jwe';
  readonly kid: string;
  readonly sid: string;
}

/** Writes and recognises the headers of one key: they differ only in the saga id at their end. */
export interface HeaderFormat {
  readonly kid: string;
  /** Characters of every header of this key. */
  readonly length: number;
  write(sid: string): string;
  /** The saga id, or `undefined` for a header that is not, byte for byte, what `write` gives for it. */
  read(header: string): string | undefined;
}

/** The header as an object, for a JOSE library to write: `JSON.stringify` keeps the order. */
export function toHeader(kid: string, sid: string): TokenHeader {
  return { alg: 'dir', enc: 'A256GCM', typ: 'saga1+jwe', kid, sid };
}

/** Whether a text can be the id of a key: 1 to 64 letters, digits and `. _ ~ -`, so that a header needs no escapes. */
export function isKid(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9._~-]{1,64}$/.test(value);
}

/** Whether a text is the id of a saga: 16 bytes, base64url, with no bits left over. */
export function isSid(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{21}[AQgw]$/.test(value);
}

/** Prepares the part of the header that every token of a key shares. */
export function createHeaderFormat(kid: string, codec: Base64UrlCodec): HeaderFormat {
  const json = JSON.stringify(toHeader(kid, ''));
  // Three bytes are four characters: up to here the encoded header does not depend on the saga id.
  const shared = json.length - 2 - ((json.length - 2) % 3);
  const start = codec.encodeLatin1(json.slice(0, shared));
  const beforeSid = json.slice(shared, -2);
  // A turn reads the header of a saga and writes it again.
  let last: { readonly sid: string; readonly header: string } | undefined;
  const write = (sid: string): string => {
    if (sid !== last?.sid) last = { sid, header: start + codec.encodeLatin1(`${beforeSid}${sid}"}`) };
    return last.header;
  };
  return {
    kid,
    length: write('A'.repeat(22)).length,
    write,
    read: (header) => {
      if (header === last?.header) return isSid(last.sid) ? last.sid : undefined;
      if (!header.startsWith(start)) return undefined;
      const end = codec.decodeLatin1(header.slice(start.length));
      const sid = end.slice(beforeSid.length, beforeSid.length + 22);
      return isSid(sid) && write(sid) === header ? sid : undefined;
    },
  };
}
