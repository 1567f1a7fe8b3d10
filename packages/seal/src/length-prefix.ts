/**
 * Joins texts so that no two different lists give the same bytes: each as its UTF-8 bytes after their number, four
 * bytes, big-endian. Separators would let one part run into the next.
 */
export function lengthPrefix(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const encoded = parts.map((part) => encoder.encode(part));
  const joined = new Uint8Array(encoded.reduce((sum, part) => sum + 4 + part.length, 0));
  const view = new DataView(joined.buffer);
  let offset = 0;
  for (const part of encoded) {
    view.setUint32(offset, part.length);
    joined.set(part, offset + 4);
    offset += 4 + part.length;
  }
  return joined;
}
