import { TokenRefused } from '../model/errors.ts';
import { isPurpose, isWholeNumber, type BoundClaims, type Purpose } from './claims.ts';
import {
  assertPadding,
  isFirstLayout,
  paddingUnit,
  type Contents,
  type StoredStream,
} from './layout.ts';
import type { Limits } from './token-limits.ts';

// Plaintext of layout 1, which older releases write. Numbers are big-endian.
//
// offset bytes 0 1 version of the layout: 1 1 1 n, the number of streams 2 4 c, the bytes of the
// claims 6 8 n of each stream: the bytes stored here (4), the bytes of the stream (4) 6 + 8 n c the
// claims: a JSON array in UTF-8, see `decodeFirstClaims` ... the stored bytes of each stream, one
// after the other ... 0..63 zeros, up to the next multiple of 64
//
// Equal lengths: the stream is stored as it is. A greater second length: the stream was compressed
// alone, by raw DEFLATE (RFC 1951). A smaller second length is malformed.

const fixedLength = 6;
const perStream = 8;

/**
 * Parses a plaintext of layout 1 into views. Throws TokenRefused, also for streams over the limits.
 */
export function unpackFirst(plaintext: Uint8Array, limits: Limits): Contents {
  const count = plaintext[1];
  if (!isFirstLayout(plaintext) || count === undefined) throw new TokenRefused('malformed');
  if (count > limits.maxStreams) throw new TokenRefused('too_large');
  let entry = fixedLength;
  let offset = fixedLength + perStream * count;
  if (offset > plaintext.length) throw new TokenRefused('malformed');
  const take = (length: number): Uint8Array => {
    if (length > plaintext.length - offset) throw new TokenRefused('malformed');
    offset += length;
    return plaintext.subarray(offset - length, offset);
  };
  const claims = take(readLength(plaintext, 2));
  const streams: StoredStream[] = [];
  let inflated = 0;
  for (; streams.length < count; entry += perStream) {
    const stream = {
      bytes: take(readLength(plaintext, entry)),
      inflated: readLength(plaintext, entry + 4),
    };
    if (stream.inflated < stream.bytes.length) throw new TokenRefused('malformed');
    inflated += stream.inflated;
    streams.push(stream);
  }
  if (inflated > limits.maxInflatedBytes) throw new TokenRefused('too_large');
  assertPadding(plaintext, offset, Math.ceil(offset / paddingUnit) * paddingUnit);
  return { claims, streams };
}

/** Decodes the claims of layout 1. Throws TokenRefused `malformed` for other bytes. */
export function decodeFirstClaims(bytes: Uint8Array): BoundClaims {
  const members = parse(bytes);
  if (!Array.isArray(members) || !areMembers(members)) throw new TokenRefused('malformed');
  // prettier-ignore
  const [
    purpose, audience, kid, sid,
    method, target, argsDigest, name, version,
    principal, engine, turn, jti, born, iat, exp,
  ] = members;
  const call = { method, entry: { target, argsDigest }, saga: { name, version }, principal };
  return { purpose, audience, kid, sid, claims: { ...call, engine, turn, jti, born, iat, exp } };
}

type BindingMembers = [purpose: Purpose, audience: string, kid: string, sid: string];
type CallMembers = [
  method: string,
  target: string,
  argsDigest: string,
  name: string,
  version: string,
];
type TurnMembers = [principal: string | null, engine: number, turn: number, jti: string];
type TimeMembers = [born: number, iat: number, exp: number];
type Members = [...BindingMembers, ...CallMembers, ...TurnMembers, ...TimeMembers];

// A letter for each member: text, nullable text, whole number.
const memberTypes = 'tttttttttnwwtwww';

function areMembers(members: readonly unknown[]): members is Members {
  if (members.length !== memberTypes.length || !isPurpose(members[0])) return false;
  for (let index = 0; index < memberTypes.length; index += 1) {
    const member = members[index];
    const type = memberTypes[index];
    if (type === 'w' ? !isWholeNumber(member) : typeof member !== 'string') {
      if (type !== 'n' || member !== null) return false;
    }
  }
  return true;
}

function readLength(bytes: Uint8Array, offset: number): number {
  const high = ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
  return high * 65_536 + (((bytes[offset + 2] ?? 0) << 8) | (bytes[offset + 3] ?? 0));
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
