// The distinct bytes of a key that is no pattern, and the distinct characters of one that is no phrase.
const patternBytes = 8;
const phraseCharacters = 18;

/**
 * `true` if a key of 32 bytes was evidently not drawn at random: a byte or a short pattern repeated, or printable ASCII
 * text with as few distinct characters as a phrase has.
 *
 * A random key is never refused in practice. At most 8 distinct bytes have a probability below C(256, 8) (8/256)^32 < 2^-111.
 * Printable text of at most 18 distinct characters has one below C(95, 18) (18/256)^32 < 2^-59.
 */
export function isWeakKey(key: Uint8Array): boolean {
  const distinct = new Set(key).size;
  return distinct <= patternBytes || (distinct <= phraseCharacters && key.every(isPrintable));
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x7e;
}
