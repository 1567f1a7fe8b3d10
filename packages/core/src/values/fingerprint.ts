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

/**
 * Structural hash of a request: a 32-bit signed number. Replay compares hashes to find a change of
 * the code.
 *
 * Types differ. The order of object keys and of Map and Set entries does not count, `undefined`
 * properties are skipped, and -0 equals 0. The number is the same in every release and on every
 * platform. Not a security measure.
 * @param parts - parts of the request, in order; nesting at most 64, without cycles
 */
export function fingerprint(...parts: readonly unknown[]): number {
  let hash = PARTS;
  for (let index = 0; index < parts.length; index++) hash = mix(hash, hashValue(parts[index]));
  return finish(hash ^ parts.length);
}

// Hashed once: a journal can hold a thousand questions, and their kind takes as long as a third of
// their text.
const kinds = /* @__PURE__ */ Object.fromEntries(
  ['elicit', 'step', 'call'].map((kind) => [kind, mix(PARTS, hashString(STRING, kind))]),
) as { readonly [kind in 'elicit' | 'step' | 'call']: number };

/** The same as {@link fingerprint} of a kind and one part. */
export function fingerprintOfPart(kind: keyof typeof kinds, part: unknown): number {
  return finish(mix(kinds[kind], hashValue(part)) ^ 2);
}

/** Hash of one value, to compare a repeated answer with the journal. No security measure. */
export function agreementDigest(value: Json): number {
  return hashValue(value);
}

function hashValue(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return hashString(STRING, value);
    case 'number':
      return hashNumber(value);
    case 'boolean':
      return finish(value ? TRUE : FALSE);
    case 'undefined':
      return finish(UNDEFINED);
    case 'bigint':
      return hashString(BIGINT, value.toString(16));
    case 'object':
      return value === null ? finish(NULL) : hashObject(value);
    case 'function':
    case 'symbol':
      return finish(OPAQUE);
    default:
      return finish(OPAQUE);
  }
}

function hashObject(value: object): number {
  if (Array.isArray(value)) {
    let hash = ARRAY;
    for (let index = 0; index < value.length; index++) hash = mix(hash, hashValue(value[index]));
    return finish(hash ^ value.length);
  }
  if (Object.getPrototypeOf(value) === Object.prototype) return hashRecord(value);
  if (value instanceof Date) return finish(mix(DATE, hashNumber(value.getTime())));
  if (value instanceof URL) return hashString(URL_TAG, value.href);
  if (value instanceof Uint8Array) return hashBytes(value);
  if (value instanceof Error) {
    return finish(
      mix(mix(ERROR, hashString(STRING, value.name)), hashString(STRING, value.message)),
    );
  }
  // A sum of hashed entries is independent of their order, without a sort or a copy.
  let sum = 0;
  let count = 0;
  if (value instanceof Map) {
    for (const [key, item] of value) {
      sum = (sum + hashEntry(hashValue(key), hashValue(item))) | 0;
      count++;
    }
    return finish(mix(mix(MAP, sum), count));
  }
  if (value instanceof Set) {
    for (const item of value) {
      sum = (sum + hashEntry(SET, hashValue(item))) | 0;
      count++;
    }
    return finish(mix(mix(SET, sum), count));
  }
  return hashRecord(value);
}

function hashRecord(value: object): number {
  let sum = 0;
  let count = 0;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    sum = (sum + hashEntry(hashString(STRING, key), hashValue(item))) | 0;
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
  return hashString(NUMBER, String(value));
}

function hashString(type: number, text: string): number {
  const length = text.length;
  let hash = type;
  let index = 0;
  for (const even = length - 1; index < even; index += 2) {
    hash = mix(hash, text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
  }
  if (index < length) hash = mix(hash, text.charCodeAt(index));
  return finish(hash ^ length);
}

function hashBytes(bytes: Uint8Array): number {
  let hash = BYTES;
  for (const byte of bytes) hash = mix(hash, byte);
  return finish(hash ^ bytes.length);
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
