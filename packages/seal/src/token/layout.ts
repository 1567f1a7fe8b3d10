import { TokenRefused, TokenTooLarge } from '../model/errors.ts';
import type { Limits } from './token-limits.ts';
import { importZlib, type NodeZlib } from '../platform/node.ts';
import { ByteReader, ByteWriter } from './byte-layout.ts';

// Plaintext of a token, in this order (`byte-layout.ts` describes the numbers):
//
// - the version of the layout, as one byte
// - a number: the bytes of the claims, and the claims (`claims.ts`)
// - a number: how many streams follow
// - for each stream a number: twice its stored bytes, plus 1 if it is compressed; and for a
//   compressed stream a number: its bytes before compression
// - the stored bytes of each stream, one after the other
// - up to 63 zeros, until the length is 24 bytes more than a multiple of 64
//
// A compressed stream is compressed alone, by raw DEFLATE (RFC 1951), and is longer than its stored
// bytes.

const layoutVersion = 1;

/** Unit of the padding of a plaintext, in bytes. Padding hides the exact length. */
const paddingUnit = 64;

// 24 + 3 * 64 bytes hold a saga that has asked one question, and are 288 characters.
const paddingOffset = 24;

/** `true` for the length of a padded plaintext. */
export function isPaddedLength(length: number): boolean {
  return length % paddingUnit === paddingOffset;
}

/** Stored stream: compressed if `inflated` is greater than the number of bytes. */
export interface StoredStream {
  readonly bytes: Uint8Array;
  /** Bytes of the stream after decompression. */
  readonly inflated: number;
}

/** Parts of a plaintext. */
export interface Contents {
  readonly claims: Uint8Array;
  readonly streams: readonly StoredStream[];
}

/** Writes a plaintext. */
export function pack({ claims, streams }: Contents): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter().number(layoutVersion).number(claims.length).bytes(claims);
  writer.number(streams.length);
  let stored = 0;
  for (const stream of streams) {
    const { length } = stream.bytes;
    if (isDeflated(stream)) writer.number(2 * length + 1).number(stream.inflated);
    else writer.number(2 * length);
    stored += length;
  }
  const start = writer.finish();
  const plaintext = new Uint8Array(paddedLength(start.length + stored));
  plaintext.set(start);
  let offset = start.length;
  for (const { bytes } of streams) {
    plaintext.set(bytes, offset);
    offset += bytes.length;
  }
  return plaintext;
}

/**
 * Parses a plaintext of {@link pack} into views. Throws TokenRefused, also for streams over the
 * limits.
 */
export function unpack(plaintext: Uint8Array, limits: Limits): Contents {
  const reader = new ByteReader(plaintext);
  if (reader.number() !== layoutVersion) throw new TokenRefused('malformed');
  const claims = reader.bytes(reader.number());
  const count = reader.number();
  if (count > limits.maxStreams) throw new TokenRefused('too_large');
  const lengths: (readonly [stored: number, inflated: number])[] = [];
  let total = 0;
  while (lengths.length < count) {
    const field = reader.number();
    const stored = Math.floor(field / 2);
    const inflated = field % 2 === 0 ? stored : reader.number();
    if (field % 2 === 1 && inflated <= stored) throw new TokenRefused('malformed');
    total += inflated;
    lengths.push([stored, inflated]);
  }
  const streams = lengths.map(([stored, inflated]) => ({ bytes: reader.bytes(stored), inflated }));
  if (total > limits.maxInflatedBytes) throw new TokenRefused('too_large');
  assertPadding(plaintext, reader.offset);
  return { claims, streams };
}

/** Throws TokenRefused unless zeros follow the content, up to a padded length. */
function assertPadding(plaintext: Uint8Array, contentLength: number): void {
  if (plaintext.length !== paddedLength(contentLength)) throw new TokenRefused('malformed');
  for (let index = contentLength; index < plaintext.length; index += 1) {
    if (plaintext[index] !== 0) throw new TokenRefused('malformed');
  }
}

function paddedLength(length: number): number {
  return (
    Math.max(0, Math.ceil((length - paddingOffset) / paddingUnit)) * paddingUnit + paddingOffset
  );
}

/** Byte string in a token. */
export interface Stream {
  /** Text is sealed as UTF-8, and a lone surrogate as U+FFFD. */
  readonly bytes: Uint8Array | string;
  /**
   * `true` if the stream may be compressed, alone. Compress only bytes that the client has: the
   * length of compressed bytes beside a secret reveals how alike the two are. A number is the least
   * size to compress, in bytes. `true` stands for 2,048.
   */
  readonly compress: boolean | number;
  /**
   * Object that stands for a stream in several tokens. While it lives, a sealer may compress only
   * what the stream has grown by.
   */
  readonly grows?: object | undefined;
}

/** Default least size of a compressed stream, in bytes. */
export const compressFrom: number = 2048;

/** Stream as bytes, before compression. */
export interface EncodedStream {
  readonly bytes: Uint8Array;
  /** `true` if the stream may be compressed, and is large enough. */
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
    const least = compress === true ? compressFrom : compress;
    return { bytes: data, compress: least !== false && data.length >= least };
  });
  if (total > limits.maxInflatedBytes)
    throw new TokenTooLarge('inflated', total, limits.maxInflatedBytes);
  return encoded;
}

/** Stores a stream, compressed if the compressed form is smaller. */
export function store({ bytes }: EncodedStream, deflated?: Uint8Array): StoredStream {
  const smaller = deflated !== undefined && deflated.length < bytes.length ? deflated : bytes;
  return { bytes: smaller, inflated: bytes.length };
}

/** `true` if a stored stream is compressed. */
export function isDeflated({ bytes, inflated }: StoredStream): boolean {
  return bytes.length !== inflated;
}

/**
 * Compresses by raw DEFLATE (RFC 1951), with the streams of the web platform, or with `node:zlib`
 * if they do not support it.
 */
export async function deflatePortable(bytes: Uint8Array): Promise<Uint8Array> {
  const compression = supported(() => new CompressionStream('deflate-raw'));
  if (compression === undefined) return (await importZlib()).deflateRawSync(bytes);
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(compression);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Decompresses a stream in bounded memory. Throws TokenRefused for invalid DEFLATE or a wrong
 * length.
 */
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

/**
 * Decompresses with `node:zlib`. Throws TokenRefused as {@link inflatePortable}, and for bytes
 * after the end.
 */
export function inflateSync(zlib: NodeZlib, { bytes, inflated }: StoredStream): Uint8Array {
  try {
    const { buffer, engine } = zlib.inflateRawSync(bytes, {
      maxOutputLength: inflated,
      info: true,
    });
    if (buffer.length === inflated && engine.bytesWritten === bytes.length)
      return new Uint8Array(buffer);
  } catch {
    // Refused below.
  }
  throw new TokenRefused('malformed');
}

/** Returns undefined if the platform does not support `make`. */
function supported<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
