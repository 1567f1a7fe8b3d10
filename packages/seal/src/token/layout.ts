import { TokenRefused, TokenTooLarge } from '../model/errors.ts';
import type { Limits } from './token-limits.ts';
import { importZlib, type NodeZlib } from '../platform/node.ts';

// What is encrypted in a token. Numbers are big-endian.
//
//   offset   bytes
//   0        1       version of the layout: 1
//   1        1       n, the number of streams
//   2        4       c, the bytes of the claims
//   6        8 n     of each stream: the bytes stored here (4), the bytes of the stream (4)
//   6 + 8 n  c       the claims: JSON in UTF-8, see claims.ts
//   ...              the stored bytes of each stream, one after the other
//   ...      0..63   zeros, up to the next multiple of 64
//
// A stream whose two lengths are equal is stored as it is. One that is longer than what is stored was compressed by
// raw DEFLATE (RFC 1951), on its own. A stream stored in more bytes than it has is malformed.

const layoutVersion = 1;
const fixedLength = 6;
const perStream = 8;

/** Plaintexts are padded to a multiple of this many bytes, so that the length of a token tells little. */
export const paddingUnit: number = 64;

/** A stream as it is stored: compressed where `inflated` is more than the bytes. */
export interface StoredStream {
  readonly bytes: Uint8Array;
  /** The bytes of the stream itself. */
  readonly inflated: number;
}

/** What a plaintext consists of. */
export interface Contents {
  readonly claims: Uint8Array;
  readonly streams: readonly StoredStream[];
}

/** Bytes of the plaintext that {@link pack} makes. */
export function measure({ claims, streams }: Contents): number {
  let length = fixedLength + perStream * streams.length + claims.length;
  for (const { bytes } of streams) length += bytes.length;
  return Math.ceil(length / paddingUnit) * paddingUnit;
}

/** Writes a plaintext. */
export function pack(contents: Contents): Uint8Array<ArrayBuffer> {
  const { claims, streams } = contents;
  const plaintext = new Uint8Array(measure(contents));
  plaintext[0] = layoutVersion;
  plaintext[1] = streams.length;
  writeLength(plaintext, 2, claims.length);
  let entry = fixedLength;
  let offset = fixedLength + perStream * streams.length;
  plaintext.set(claims, offset);
  offset += claims.length;
  for (const { bytes, inflated } of streams) {
    writeLength(plaintext, entry, bytes.length);
    writeLength(plaintext, entry + 4, inflated);
    plaintext.set(bytes, offset);
    entry += perStream;
    offset += bytes.length;
  }
  return plaintext;
}

/** Reads what {@link pack} wrote, as views. Throws TokenRefused, before inflating anything over the limits. */
export function unpack(plaintext: Uint8Array, limits: Limits): Contents {
  const count = plaintext[1];
  if (plaintext[0] !== layoutVersion || count === undefined) throw new TokenRefused('malformed');
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
    const stream = { bytes: take(readLength(plaintext, entry)), inflated: readLength(plaintext, entry + 4) };
    if (stream.inflated < stream.bytes.length) throw new TokenRefused('malformed');
    inflated += stream.inflated;
    streams.push(stream);
  }
  if (inflated > limits.maxInflatedBytes) throw new TokenRefused('too_large');
  assertPadding(plaintext, offset);
  return { claims, streams };
}

function assertPadding(plaintext: Uint8Array, offset: number): void {
  if (plaintext.length !== Math.ceil(offset / paddingUnit) * paddingUnit) throw new TokenRefused('malformed');
  for (let index = offset; index < plaintext.length; index += 1) {
    if (plaintext[index] !== 0) throw new TokenRefused('malformed');
  }
}

function writeLength(bytes: Uint8Array, offset: number, length: number): void {
  bytes[offset] = length >>> 24;
  bytes[offset + 1] = length >>> 16;
  bytes[offset + 2] = length >>> 8;
  bytes[offset + 3] = length;
}

function readLength(bytes: Uint8Array, offset: number): number {
  const high = ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
  return high * 65_536 + (((bytes[offset + 2] ?? 0) << 8) | (bytes[offset + 3] ?? 0));
}

/** One of the byte strings that a token carries. */
export interface Stream {
  /** A text is sealed as UTF-8; a lone surrogate in it becomes U+FFFD. */
  readonly bytes: Uint8Array | string;
  /**
   * Whether it may be compressed. Only for bytes the client already has: what is compressed beside a secret tells by
   * its length how alike the two are. A stream is compressed alone, from 2,048 bytes, and if that makes it smaller.
   */
  readonly compress: boolean;
}

/** Streams shorter than this, in bytes, are never compressed. */
export const compressFrom: number = 2048;

/** A stream as bytes, before it is compressed. */
export interface EncodedStream {
  readonly bytes: Uint8Array;
  /** Whether compression is allowed and worth trying. */
  readonly compress: boolean;
}

/** Encodes streams as bytes. Throws TokenTooLarge for too many streams or bytes. */
export function encodeStreams(
  streams: readonly Stream[],
  encode: (text: string) => Uint8Array,
  limits: Limits,
): readonly EncodedStream[] {
  if (streams.length > limits.maxStreams)
    throw new TokenTooLarge('streams', streams.length, limits.maxStreams);
  let total = 0;
  const encoded = streams.map(({ bytes, compress }) => {
    const data = typeof bytes === 'string' ? encode(bytes) : bytes;
    total += data.length;
    return { bytes: data, compress: compress && data.length >= compressFrom };
  });
  if (total > limits.maxInflatedBytes) throw new TokenTooLarge('inflated', total, limits.maxInflatedBytes);
  return encoded;
}

/** The smaller of a stream and its compressed form, as it is stored. */
export function store({ bytes }: EncodedStream, deflated?: Uint8Array): StoredStream {
  const smaller = deflated !== undefined && deflated.length < bytes.length ? deflated : bytes;
  return { bytes: smaller, inflated: bytes.length };
}

/** Whether a stored stream is compressed. */
export function isDeflated({ bytes, inflated }: StoredStream): boolean {
  return bytes.length !== inflated;
}

/** Compresses by raw DEFLATE (RFC 1951), through the web platform's streams; through Node's zlib where they cannot. */
export async function deflatePortable(bytes: Uint8Array): Promise<Uint8Array> {
  const compression = supported(() => new CompressionStream('deflate-raw'));
  if (compression === undefined) return (await importZlib()).deflateRawSync(bytes);
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(compression);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Decompresses a stream in bounded memory. Throws TokenRefused for invalid DEFLATE or another length than declared. */
export async function inflatePortable({ bytes, inflated }: StoredStream): Promise<Uint8Array> {
  const decompression = supported(() => new DecompressionStream('deflate-raw'));
  if (decompression === undefined) return inflateSync(await importZlib(), { bytes, inflated });
  const output = new Uint8Array(inflated);
  let length = 0;
  try {
    const source = new Blob([new Uint8Array(bytes)]).stream();
    const reader = source.pipeThrough(decompression).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (next.value.length > inflated - length) {
        await reader.cancel();
        throw new TokenRefused('malformed');
      }
      output.set(next.value, length);
      length += next.value.length;
    }
  } catch {
    throw new TokenRefused('malformed');
  }
  if (length !== inflated) throw new TokenRefused('malformed');
  return output;
}

/** Decompresses by Node's zlib. Throws TokenRefused as {@link inflatePortable} does, and for bytes after the end. */
export function inflateSync(zlib: NodeZlib, { bytes, inflated }: StoredStream): Uint8Array {
  try {
    const { buffer, engine } = zlib.inflateRawSync(bytes, { maxOutputLength: inflated, info: true });
    if (buffer.length === inflated && engine.bytesWritten === bytes.length) return new Uint8Array(buffer);
  } catch {
    // Refused below, like any other stream that is not what it declares.
  }
  throw new TokenRefused('malformed');
}

/** What is made, or undefined where the platform does not know it. */
function supported<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
