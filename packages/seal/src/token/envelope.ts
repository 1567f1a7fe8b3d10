import type { Base64UrlCodec } from '../platform/base64url.ts';
import { TokenRefused } from '../model/errors.ts';
import { createHeaderFormat, type HeaderFormat, isKid } from './header.ts';
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
