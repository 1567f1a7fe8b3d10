/**
 * The parts of a token, from the outside to the inside:
 *
 * - `envelope.ts`: a JWE in compact form, with the saga ID and the key ID readable in its header
 * - `layout.ts`: the plaintext, which is claims and streams, padded so that lengths tell little
 * - `claims.ts`: who, what, and until when
 * - `byte-layout.ts`: numbers and bytes
 * - `token-limits.ts`: sizes that are refused before they cost time
 *
 * For each content there is one text. A parser that accepted two texts of one token would let a
 * used token be used again, as another one.
 */
import type { Base64UrlCodec } from '../platform/base64url.ts';
import { TokenRefused } from '../model/errors.ts';
import { isPaddedLength } from './layout.ts';

/** Parts of a well-formed token, not authenticated yet. */
export interface Envelope {
  /** Encoded header: the additional data of the encryption. */
  readonly header: string;
  readonly kid: string;
  readonly sid: string;
  readonly nonce: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly tag: Uint8Array;
}

/** Parses tokens without a key. */
export interface EnvelopeReader {
  /** Parses a token. Throws TokenRefused unless this format writes exactly the same text. */
  read(token: unknown): Envelope;
}

const nonceLength = 16;
const tagLength = 22;

/**
 * Characters of a token: header, no encrypted key, nonce (12 bytes), ciphertext, tag (16 bytes).
 */
export function measureToken(headerLength: number, plaintextLength: number): number {
  return headerLength + 2 + nonceLength + 1 + Math.ceil((plaintextLength * 4) / 3) + 1 + tagLength;
}

/**
 * Makes the parser of tokens. JOSE libraries accept several texts for one token, and a guard would
 * count each as another token.
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
      const { kid, sid } = readHeader(header, headers, codec);
      // The alphabet excludes further dots.
      const nonce = codec.decode(token.slice(nonceStart, textStart - 1));
      const ciphertext = codec.decode(token.slice(textStart, tagStart - 1));
      const tag = codec.decode(token.slice(tagStart));
      if (nonce?.length !== 12 || tag?.length !== 16) throw new TokenRefused('malformed');
      if (ciphertext === undefined || !isPaddedLength(ciphertext.length))
        throw new TokenRefused('malformed');
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
  // Headers of this format are shorter.
  if (header.length > 256) return false;
  const kid = /"kid":"([^"]*)"/.exec(codec.decodeLatin1(header))?.[1];
  return isKid(kid) && createHeaderFormat(kid, codec).read(header) !== undefined;
}

/** Header of a token, with members in written order. */
export interface TokenHeader {
  readonly alg: 'dir';
  readonly enc: 'A256GCM';
  readonly typ: 'saga1+jwe';
  readonly kid: string;
  readonly sid: string;
}

/** Writes and parses the headers of a key, which differ only in the saga ID at the end. */
export interface HeaderFormat {
  readonly kid: string;
  /** Characters of each header. */
  readonly length: number;
  write(sid: string): string;
  /** Returns the saga ID, or undefined unless `write` gives the same header. */
  read(header: string): string | undefined;
}

/** Header as an object for a JOSE library. */
export function toHeader(kid: string, sid: string): TokenHeader {
  return { alg: 'dir', enc: 'A256GCM', typ: 'saga1+jwe', kid, sid };
}

/**
 * `true` for a valid key ID: 1 to 64 letters, digits, and `. _ ~ -`, which need no escapes in a
 * header.
 */
export function isKid(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9._~-]{1,64}$/.test(value);
}

/** `true` for a saga ID: 16 bytes in base64url, without trailing bits. */
export function isSid(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{21}[AQgw]$/.test(value);
}

/** Makes the header format of a key. */
export function createHeaderFormat(kid: string, codec: Base64UrlCodec): HeaderFormat {
  const json = JSON.stringify(toHeader(kid, ''));
  // Three bytes are four characters, so this part of the encoded header is the same for each saga
  // ID.
  const shared = json.length - 2 - ((json.length - 2) % 3);
  const start = codec.encodeLatin1(json.slice(0, shared));
  const beforeSid = json.slice(shared, -2);
  // A turn reads and writes the same header.
  let last: { readonly sid: string; readonly header: string } | undefined;
  const write = (sid: string): string => {
    if (sid !== last?.sid)
      last = { sid, header: start + codec.encodeLatin1(`${beforeSid}${sid}"}`) };
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
