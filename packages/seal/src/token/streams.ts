import { TokenRefused, TokenTooLarge } from '../model/errors.ts';
import type { StoredStream } from './layout.ts';
import type { Limits } from './token-limits.ts';
import { importZlib } from '../platform/node.ts';
import type { NodeZlib } from '../platform/node.ts';

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

/**
 * Streams as bytes, within the limits.
 *
 * @throws TokenTooLarge for too many streams, or too many bytes in all of them.
 */
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

/**
 * Decompresses a stream, holding no more than one chunk beyond what it declares.
 *
 * @throws TokenRefused for bytes that are not raw DEFLATE, or not of exactly the declared length.
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
 * Decompresses a stream by Node's zlib, holding no more than it declares.
 *
 * @throws TokenRefused as {@link inflatePortable} does, and for bytes after the end
 */
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
