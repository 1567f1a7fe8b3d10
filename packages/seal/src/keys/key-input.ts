import { fromBase64Url } from '../platform/base64url.ts';
import { SealError } from '../model/errors.ts';
import { isKid } from '../token/envelope.ts';

/** A symmetric key as a JSON Web Key (RFC 7517; RFC 7518, section 6.4). */
export interface OctJwk {
  readonly kty: 'oct';
  /** ID of the key, readable in tokens. */
  readonly kid: string;
  /** 32 bytes in base64url. */
  readonly k: string;
  readonly alg?: 'dir' | 'A256GCM';
}

/** A key: ID and 32 bytes, or a JSON Web Key. */
export type KeyInput = { readonly kid: string; readonly key: Uint8Array } | OctJwk;

/**
 * Keys of a ring, newest first: `"k2:<32 bytes base64url>,k1:<...>"`, the JSON of a JWK or a JWK
 * set, a list of keys in any of these forms, or `'ephemeral'` for a random key of the process.
 */
export type KeysOption = string | readonly (string | KeyInput)[];

/** Parsed key: ID and 32 bytes. */
export interface RawKey {
  readonly kid: string;
  readonly key: Uint8Array;
}

/**
 * Parses keys of every form. Throws SealError `keys` with the position of a bad key, never with the
 * value.
 */
export function readKeys(keys: KeysOption): readonly RawKey[] {
  if (typeof keys !== 'string' && !Array.isArray(keys)) {
    throw new SealError('keys', `The keys are neither a string nor a list: ${howToGiveKeys}`);
  }
  const inputs = typeof keys === 'string' ? splitText(keys) : keys.flatMap(splitListed);
  if (inputs.length === 0)
    throw new SealError('keys', `The list of keys is empty: ${howToGiveKeys}`);
  if (typeof keys === 'string' && isQuoted(keys)) {
    throw new SealError(
      'keys',
      'The keys are in quotes, which are no part of them. Remove the quotes: a shell does so, but `docker run --env-file` and ' +
        'some dashboards keep them.',
    );
  }
  return inputs.map((input, index) => {
    const key = readKey(input);
    if (typeof key === 'string') throw keyError(index, inputs.length, key);
    return key;
  });
}

/** `true` for text that begins or ends with a quote. Keys never contain one, and JSON begins otherwise. */
function isQuoted(text: string): boolean {
  return /^["'`]|["'`]$/.test(text.trim());
}

/** Command that prints a new key. */
export const howToMakeOne: string = `To make one: node -p "'k1:' + require('node:crypto').randomBytes(32).toString('base64url')".`;

/** Advice for missing or bad keys. */
export const howToGiveKeys: string =
  `set SAGA_KEYS to "k1:<32 random bytes, base64url>". ${howToMakeOne} ` +
  'With NODE_ENV development or test, no keys are needed.';

/** Makes the error of a bad key: position and problem, never the value. */
export function keyError(index: number, count: number, problem: string): SealError {
  return new SealError('keys', `key ${index + 1} of ${count} ${problem}`);
}

function splitListed(input: unknown): readonly unknown[] {
  return typeof input === 'string' ? splitText(input) : [input];
}

function splitText(text: string): readonly unknown[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  if (!trimmed.startsWith('{') && !trimmed.startsWith('[')) return trimmed.split(',');
  const parsed = parseJson(trimmed);
  if (Array.isArray(parsed)) return parsed;
  return isRecord(parsed) && Array.isArray(parsed['keys']) ? parsed['keys'] : [parsed];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without a cause: the message of JSON.parse quotes its input.
    throw new SealError('keys', 'The keys look like JSON but do not parse');
  }
}

function readKey(input: unknown): RawKey | string {
  if (typeof input === 'string') {
    const [, kid, key] = /^\s*([^:]*):([^:]*?)\s*$/.exec(input) ?? [];
    const read =
      kid === undefined || key === undefined
        ? 'is not written as <id>:<32 bytes base64url>'
        : /^[\da-f]{64}$/i.test(key)
          ? 'is written in hex instead of base64url'
          : fromText(kid, key);
    return typeof read === 'string' ? `${read}. ${howToMakeOne}` : read;
  }
  if (!isRecord(input)) return 'is neither a string nor an object';
  if (input['key'] instanceof Uint8Array) return fromBytes(input['kid'], input['key']);
  if (input['kty'] !== 'oct') return 'is not a JWK of type oct';
  const alg = input['alg'];
  if (alg !== undefined && alg !== 'dir' && alg !== 'A256GCM')
    return 'has an alg other than dir or A256GCM';
  return fromText(input['kid'], input['k']);
}

function fromText(kid: unknown, text: unknown): RawKey | string {
  const key = typeof text === 'string' ? fromBase64Url(text) : undefined;
  return key === undefined ? 'is not base64url without padding' : fromBytes(kid, key);
}

function fromBytes(kid: unknown, key: Uint8Array): RawKey | string {
  if (!isKid(kid)) return 'has no id of 1 to 64 letters, digits and . _ ~ -';
  // Copied, so that the caller can wipe the original.
  return key.length === 32
    ? { kid, key: new Uint8Array(key) }
    : `has ${key.length} bytes instead of 32`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

// Short patterns have at most 8 distinct bytes; phrases of 32 characters rarely have more than 18
// distinct ones.
const patternBytes = 8;
const phraseCharacters = 18;

/**
 * `true` if a 32-byte key is evidently not random: few distinct bytes, two equal halves, bytes that
 * count up or down in equal steps, or printable ASCII text with few distinct characters.
 *
 * A random key is never refused in practice. The probability of at most 8 distinct bytes is below
 * C(256, 8) (8/256)^32 < 2^-111. Equal halves have a probability of 2^-128, equal steps of 2^-240.
 * The probability of printable text with at most 18 distinct characters is below
 * C(95, 18) (18/256)^32 < 2^-59.
 */
export function isWeakKey(key: Uint8Array): boolean {
  const distinct = new Set(key).size;
  if (distinct <= patternBytes || (distinct <= phraseCharacters && key.every(isPrintable)))
    return true;
  const half = key.length / 2;
  return key.every((byte, at) => byte === key[at % half]) || hasEqualSteps(key);
}

function hasEqualSteps(key: Uint8Array): boolean {
  const stepTo = (at: number): number => ((key[at] ?? 0) - (key[at - 1] ?? 0)) & 0xff;
  return key.every((_, at) => at === 0 || stepTo(at) === stepTo(1));
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x7e;
}

/**
 * Public keys of tests, documents, and standards, in base64url. A key ring accepts them only if the
 * environment is `test`.
 */
export const publishedTestKeys: readonly string[] = [
  // 32 zero bytes.
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  // 32 bytes of all ones.
  '__________________________________________8',
  // The bytes 0 to 31: the key of the golden vectors.
  'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
  // The bytes 1 to 32.
  'AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA',
  // The content encryption key of RFC 7516, appendix A.1.
  'saH0gFSP4XM_tAP_a5rU9ooHbltwLiJpL4LLLnrqQPw',
];
