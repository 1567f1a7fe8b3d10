import type { Base64UrlCodec } from '../platform/base64url.ts';

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
