// Short patterns have at most 8 distinct bytes; phrases of 32 characters rarely have more than 18 distinct ones.
const patternBytes = 8;
const phraseCharacters = 18;

/**
 * `true` if a 32-byte key is evidently not random: a byte or a short pattern repeated, or printable ASCII text with few
 * distinct characters.
 *
 * A random key is never refused in practice. The probability of at most 8 distinct bytes is below
 * C(256, 8) (8/256)^32 < 2^-111. The probability of printable text with at most 18 distinct characters is below
 * C(95, 18) (18/256)^32 < 2^-59.
 */
export function isWeakKey(key: Uint8Array): boolean {
  const distinct = new Set(key).size;
  return distinct <= patternBytes || (distinct <= phraseCharacters && key.every(isPrintable));
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x7e;
}
