import type { NodeBuiltins } from '../platform/node.ts';

// Fast path of `deflateRawSync` for a stream that grows from token to token: each commit of a turn
// would compress all earlier steps again.

/** Maximum number of bytes at the end of a stream that are stored without compression. */
const maxTail = 1024;

/** Bytes that DEFLATE looks back. */
const maxDistance = 32 * 1024;

/** Ends the output at a whole byte, and without a last block. */
const syncFlush = 2;

const none: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

/**
 * Creates a function that compresses the states of a growing stream by raw DEFLATE. Keeps the
 * compressed start of the stream.
 */
export function createGrownDeflate({
  Buffer,
  zlib,
}: Pick<NodeBuiltins, 'Buffer' | 'zlib'>): (bytes: Uint8Array) => Uint8Array {
  /** Compressed start of the stream. */
  let start = none;
  /** Blocks of the start. None of them is the last block of a stream. */
  let blocks = none;
  return (bytes) => {
    const isGrown = Buffer.compare(bytes.subarray(0, start.length), start) === 0;
    if (!isGrown) start = blocks = none;
    let tail = bytes.subarray(start.length);
    if (start.length === 0 || tail.length > maxTail) {
      const dictionary = start.subarray(-maxDistance);
      const options = {
        finishFlush: syncFlush,
        ...(dictionary.length === 0 ? {} : { dictionary }),
      };
      const more = zlib.deflateRawSync(tail, options);
      // A runtime that ignores the options ends the stream here.
      if (!isFlushed(more)) return start.length === 0 ? more : zlib.deflateRawSync(bytes);
      blocks = Buffer.concat([blocks, more]);
      // A copy: the caller may change its bytes.
      start = new Uint8Array(bytes);
      tail = none;
    }
    return Buffer.concat([blocks, storedHeader(tail.length), tail]);
  };
}

/** `true` if compressed bytes end with the empty block of a flush. */
function isFlushed(bytes: Uint8Array): boolean {
  return [0, 0, 255, 255].every((byte, index) => bytes[bytes.length - 4 + index] === byte);
}

/** Header of a last block that is stored without compression (RFC 1951, section 3.2.4). */
function storedHeader(length: number): Uint8Array {
  return Uint8Array.of(1, length, length >>> 8, ~length, ~length >>> 8);
}
