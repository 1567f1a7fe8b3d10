import { AuthoringError } from './errors.ts';

/**
 * Converts an idempotency key to a UUID, for a provider that accepts only UUIDs: version 8 of RFC
 * 9562, with the first 122 bits of the SHA-256 of the key. The same key has the same UUID in every
 * process and release, so an undo finds the effect by the UUID of its `stepKey`. Any other string
 * works too.
 * @throws AuthoringError unless the key is a string with a character, and without a lone surrogate
 * @example
 * ```ts
 * const pay = saga({ name: 'pay', version: '1' }, function* () {
 *   yield* step('pay', ({ idempotencyKey }) => bank.pay(toUuid(idempotencyKey)), {
 *     compensate: ({ stepKey }) => bank.refund(toUuid(stepKey)),
 *   });
 *   return 'Paid.';
 * });
 * ```
 */
export function toUuid(key: string): string {
  if (typeof key !== 'string' || key === '' || /\p{Surrogate}/u.test(key))
    throw new AuthoringError(
      'toUuid needs a key: a string with at least one character, and without a lone surrogate.',
      { anchor: 'steps' },
    );
  return formatUuid(sha256(new TextEncoder().encode(key)), 8);
}

/** Formats the first 16 bytes as a UUID of a version (RFC 9562). */
export function formatUuid(bytes: Uint8Array, version: 4 | 8): string {
  const octets = bytes.slice(0, 16);
  octets[6] = ((octets[6] as number) & 0x0f) | (version << 4);
  octets[8] = ((octets[8] as number) & 0x3f) | 0x80;
  const hex = Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Words of SHA-256 that no message changes: 32 bits each. Made once, and not at import. */
let constants: { readonly start: Int32Array; readonly rounds: Int32Array } | undefined;

/** Makes the words of roots of the first 64 primes: the bits behind the point (FIPS 180-4). */
function rootsOfPrimes(): NonNullable<typeof constants> {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number += 1)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  // An Int32Array drops what is before the point, because it keeps only the lowest 32 bits.
  return {
    start: Int32Array.from(primes.slice(0, 8), (prime) => Math.sqrt(prime) * 2 ** 32),
    rounds: Int32Array.from(primes, (prime) => Math.cbrt(prime) * 2 ** 32),
  };
}

/**
 * SHA-256 (FIPS 180-4), 32 bytes. It is written out because WebCrypto hashes only asynchronously,
 * and a step passes its UUID in an expression.
 */
function sha256(message: Uint8Array): Uint8Array {
  constants ??= rootsOfPrimes();
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  const state = constants.start.slice();
  for (let offset = 0; offset < padded.length; offset += 64)
    mixBlock(state, wordsAt(view, offset), constants.rounds);
  for (let index = 0; index < 8; index += 1) view.setInt32(index * 4, at(state, index));
  return padded.slice(0, 32);
}

/** Expands a block of 16 words to 64. */
function wordsAt(view: DataView, offset: number): Int32Array {
  const words = new Int32Array(64);
  for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(offset + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const early = at(words, index - 15);
    const late = at(words, index - 2);
    words[index] =
      at(words, index - 16) +
      (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)) +
      at(words, index - 7) +
      (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
  }
  return words;
}

function mixBlock(state: Int32Array, words: Int32Array, rounds: Int32Array): void {
  // The letters are those of the standard.
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let round = 0; round < 64; round += 1) {
    const first =
      h +
      (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
      ((e & f) ^ (~e & g)) +
      at(rounds, round) +
      at(words, round);
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries())
    state[index] = at(state, index) + word;
}

function at(words: Int32Array, index: number): number {
  return words[index] as number;
}

/** Rotates a word to the right. */
function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
