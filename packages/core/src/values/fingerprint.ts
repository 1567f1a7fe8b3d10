import type { Json } from './json.ts';

// These numbers are part of the token format: a change makes every running saga a ReplayMismatch.
const NULL = 1;
const UNDEFINED = 2;
const FALSE = 3;
const TRUE = 4;
const INTEGER = 5;
const SAFE_INTEGER = 6;
const NUMBER = 7;
const STRING = 8;
const BIGINT = 9;
const ARRAY = 10;
const OBJECT = 11;
const DATE = 12;
const MAP = 13;
const SET = 14;
const URL_TAG = 15;
const BYTES = 16;
const ERROR = 17;
const OPAQUE = 18;
const PARTS = 19;

/** Older releases hashed longer strings and bytes by length, head, and tail. */
const LONG = 96;
const END = 32;

/**
 * Offset of a fingerprint that hashes long strings in full. Fingerprints of older releases are
 * 32-bit numbers.
 */
const WHOLE = 2 ** 32;

/**
 * Structural hash of a request: a 32-bit signed number. Replay compares hashes to find a change of
 * the code.
 *
 * Types differ. The order of object keys and of Map and Set entries does not count, `undefined`
 * properties are skipped, and -0 equals 0. Strings of more than 96 UTF-16 units count by length,
 * first 32, and last 32 units: see {@link wholeFingerprint}. The number is the same in every
 * release and on every platform. Not a security measure.
 * @param parts - parts of the request, in order; nesting at most 64, without cycles
 */
export function fingerprint(...parts: readonly unknown[]): number {
  return hashParts(parts, LONG);
}

/**
 * {@link fingerprint} with strings and bytes in full. At least 2^32, so never equal to a
 * fingerprint of an older release.
 */
export function wholeFingerprint(...parts: readonly unknown[]): number {
  return WHOLE + (hashParts(parts, Number.POSITIVE_INFINITY) >>> 0);
}

/** `true` if a fingerprint hashes long strings in full. */
export function isWhole(recorded: number): boolean {
  return recorded >= WHOLE;
}

/**
 * {@link fingerprint} of a request, or {@link wholeFingerprint} if a long string or bytes would be
 * cut.
 */
export function fingerprintOfRequest(...parts: readonly unknown[]): number {
  hasLong = false;
  const short = hashParts(parts, LONG);
  return hasLong ? wholeFingerprint(...parts) : short;
}

/**
 * Set while hashing a string or bytes of more than {@link LONG} units. A separate walk would cost
 * as much.
 */
let hasLong = false;

function hashParts(parts: readonly unknown[], long: number): number {
  let hash = PARTS;
  for (let index = 0; index < parts.length; index++)
    hash = mix(hash, hashValue(parts[index], long));
  return finish(hash ^ parts.length);
}

// Hashed once: a journal can hold a thousand questions, and their kind takes as long as a third of
// their text.
const kinds = /* @__PURE__ */ Object.fromEntries(
  ['elicit', 'step', 'call'].map((kind) => [kind, mix(PARTS, hashString(STRING, kind, LONG))]),
) as { readonly [kind in 'elicit' | 'step' | 'call']: number };

/** The same as {@link fingerprintOfRequest} of a kind and one part. */
export function fingerprintOfPart(kind: keyof typeof kinds, part: unknown): number {
  hasLong = false;
  const short = finish(mix(kinds[kind], hashValue(part, LONG)) ^ 2);
  return hasLong ? wholeFingerprint(kind, part) : short;
}

/**
 * {@link fingerprint} of one value with strings in full, to compare a repeated answer with the
 * journal. No security measure.
 */
export function agreementDigest(value: Json): number {
  return hashValue(value, Number.POSITIVE_INFINITY);
}

function hashValue(value: unknown, long: number): number {
  switch (typeof value) {
    case 'string':
      return hashString(STRING, value, long);
    case 'number':
      return hashNumber(value);
    case 'boolean':
      return finish(value ? TRUE : FALSE);
    case 'undefined':
      return finish(UNDEFINED);
    case 'bigint':
      return hashString(BIGINT, value.toString(16), long);
    case 'object':
      return value === null ? finish(NULL) : hashObject(value, long);
    case 'function':
    case 'symbol':
      return finish(OPAQUE);
    default:
      return finish(OPAQUE);
  }
}

function hashObject(value: object, long: number): number {
  if (Array.isArray(value)) {
    let hash = ARRAY;
    for (let index = 0; index < value.length; index++)
      hash = mix(hash, hashValue(value[index], long));
    return finish(hash ^ value.length);
  }
  if (Object.getPrototypeOf(value) === Object.prototype) return hashRecord(value, long);
  if (value instanceof Date) return finish(mix(DATE, hashNumber(value.getTime())));
  if (value instanceof URL) {
    if (value.href.length > LONG) hasLong = true;
    return hashString(URL_TAG, value.href, long);
  }
  if (value instanceof Uint8Array) return hashBytes(value, long);
  if (value instanceof Error) {
    return finish(
      mix(
        mix(ERROR, hashString(STRING, value.name, long)),
        hashString(STRING, value.message, long),
      ),
    );
  }
  // A sum of hashed entries is independent of their order, without a sort or a copy.
  let sum = 0;
  let count = 0;
  if (value instanceof Map) {
    for (const [key, item] of value) {
      sum = (sum + hashEntry(hashValue(key, long), hashValue(item, long))) | 0;
      count++;
    }
    return finish(mix(mix(MAP, sum), count));
  }
  if (value instanceof Set) {
    for (const item of value) {
      sum = (sum + hashEntry(SET, hashValue(item, long))) | 0;
      count++;
    }
    return finish(mix(mix(SET, sum), count));
  }
  return hashRecord(value, long);
}

function hashRecord(value: object, long: number): number {
  let sum = 0;
  let count = 0;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (key.length > LONG) hasLong = true;
    if (item === undefined) continue;
    sum = (sum + hashEntry(hashString(STRING, key, long), hashValue(item, long))) | 0;
    count++;
  }
  return finish(mix(mix(OBJECT, sum), count));
}

function hashEntry(key: number, value: number): number {
  return finish(mix(mix(OBJECT, key), value));
}

function hashNumber(value: number): number {
  const low = value | 0;
  // Includes -0.
  if (low === value) return finish(mix(INTEGER, low));
  if (Number.isSafeInteger(value)) {
    return finish(mix(mix(SAFE_INTEGER, low), Math.floor(value / 0x1_0000_0000) | 0));
  }
  // The shortest decimal text is the same on every engine.
  return hashString(NUMBER, String(value), Number.POSITIVE_INFINITY);
}

function hashString(type: number, text: string, long: number): number {
  const length = text.length;
  if (length > LONG && type === STRING) hasLong = true;
  const hash =
    length <= long
      ? mixString(type, text, 0, length)
      : mixString(mixString(type, text, 0, END), text, length - END, length);
  return finish(hash ^ length);
}

function mixString(seed: number, text: string, from: number, to: number): number {
  let hash = seed;
  let index = from;
  for (const even = to - 1; index < even; index += 2) {
    hash = mix(hash, text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
  }
  return index < to ? mix(hash, text.charCodeAt(index)) : hash;
}

function hashBytes(bytes: Uint8Array, long: number): number {
  const length = bytes.length;
  if (length > LONG) hasLong = true;
  let hash = BYTES;
  for (let index = 0; index < length; index++) {
    if (length > long && index === END) index = length - END;
    hash = mix(hash, bytes[index] ?? 0);
  }
  return finish(hash ^ length);
}

/** One round of MurmurHash3 (x86, 32 bits; Austin Appleby, public domain). */
function mix(hash: number, word: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const mixed = hash ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}
