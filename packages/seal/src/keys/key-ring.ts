/**
 * The keys of a service, newest first: the first seals, and all of them open. A ring is made of
 * the forms that `key-input.ts` reads, which refuses keys that are evidently not random.
 * `key-schedule.ts` derives the key of one saga and purpose.
 *
 * - A key leaves this folder only as a derived key. Printing a ring, or turning it into JSON,
 *   shows IDs only.
 */
import { optionError } from '../model/option-error.ts';
import { chain, type MaybePromise } from '../model/maybe-promise.ts';
import { toBase64Url } from '../platform/base64url.ts';
import { SealError } from '../model/errors.ts';
import {
  howToGiveKeys,
  howToMakeOne,
  keyError,
  readKeys,
  type KeysOption,
  type RawKey,
  publishedTestKeys,
  isWeakKey,
} from './key-input.ts';
import { isKid } from '../token/envelope.ts';
import { extract } from './key-schedule.ts';
import { loadNode } from '../platform/node.ts';
import { randomBytes } from '../digest/hash.ts';

/** Keys of tokens: the first key seals, and every key opens. Printing a ring shows no key. */
export interface KeyRing {
  /** IDs of the keys, in order. Readable in every token. */
  readonly kids: readonly string[];
  /** IDs without keys. */
  toString(): string;
  /** IDs without keys. */
  toJSON(): string;
}

/** Options of {@link createKeyRing}. */
export interface KeyRingOptions {
  /** Value of `NODE_ENV`. The process is not read. */
  readonly environment?: string;
  /** `true` if the server uses stdio, so that client and server end together. @default false */
  readonly stdio?: boolean;
  /**
   * Receives a warning about a random key in production, or instead of missing keys. Default: no
   * warning.
   */
  readonly warn?: (message: string) => void;
}

/** Key of a ring: ID, and pseudorandom key of the key schedule. */
export interface RingKey {
  readonly kid: string;
  readonly prk: () => MaybePromise<Uint8Array>;
}

let keysOf: (ring: KeyRing) => readonly [RingKey, ...RingKey[]];

class SecretKeyRing implements KeyRing {
  readonly kids: readonly string[];
  readonly #keys: readonly [RingKey, ...RingKey[]];

  static {
    // Only this module can read the keys of a ring.
    keysOf = (ring) => {
      if (ring instanceof SecretKeyRing) return ring.#keys;
      throw optionError('The key ring was not made by createKeyRing');
    };
  }

  constructor(keys: readonly [RingKey, ...RingKey[]]) {
    this.#keys = keys;
    this.kids = keys.map(({ kid }) => kid);
  }

  toString(): string {
    return `KeyRing(${this.kids.join(', ')}; keys redacted)`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/**
 * Makes a key ring. To rotate keys, deploy `old,new`, then `new,old`, then `new`, each to every
 * process before the next. A key gives full access to the tokens of the service: do not share keys
 * between services.
 *
 * Missing keys are random, over stdio and if the environment is `development` or `test`: tokens
 * then end with the process.
 * @throws SealError `keys` for missing, bad, short, repeated, or published keys, and for weak keys
 * outside of `development` and `test`
 * @example
 * ```ts
 * const ring = createKeyRing(keys, { environment: 'production' });
 * const sealer = createSealer({ ring, audience: 'shop' });
 * console.log(ring.kids, sealer.newSagaId());
 * ```
 */
export function createKeyRing(keys: KeysOption | undefined, options: KeyRingOptions = {}): KeyRing {
  if (keys === undefined) {
    if (
      options.stdio !== true &&
      options.environment !== 'development' &&
      options.environment !== 'test'
    ) {
      throw new SealError('keys', `No keys: ${howToGiveKeys}`);
    }
    options.warn?.('No keys: sagas end with this process. Set SAGA_KEYS to keep the sagas.');
  }
  if (keys === 'ephemeral' && options.environment === 'production') {
    options.warn?.(
      "keys: 'ephemeral' in production: other processes cannot open these tokens, and all tokens are lost when " +
        'it ends. Set SAGA_KEYS to keep the sagas.',
    );
  }
  if (keys === undefined || keys === 'ephemeral') return createEphemeral();
  const raw = readKeys(keys);
  for (const [index, key] of raw.entries()) assertUsable(key, index, raw, options.environment);
  const [first, ...others] = raw.map(toRingKey);
  if (first === undefined) throw new SealError('keys', `No keys: ${howToGiveKeys}`);
  return new SecretKeyRing([first, ...others]);
}

/**
 * Creates a random key in the form of `SAGA_KEYS`: `k1:<32 bytes base64url>`.
 * @throws TypeError unless the ID has 1 to 64 letters, digits, and `. _ ~ -`
 * @example
 * ```ts
 * const added = generateKey('k2');
 * const ring = createKeyRing([added, keys]);
 * console.log(ring.kids[0] === 'k2');
 * ```
 */
export function generateKey(kid: string = 'k1'): string {
  if (!isKid(kid))
    throw optionError('The ID of a key must have 1 to 64 letters, digits, and . _ ~ -');
  return `${kid}:${toBase64Url(randomBytes(32))}`;
}

/**
 * Returns the keys of a ring, the sealing key first. Throws TypeError unless {@link createKeyRing}
 * made the ring.
 */
export function readRing(ring: KeyRing): readonly [RingKey, ...RingKey[]] {
  return keysOf(ring);
}

function createEphemeral(): KeyRing {
  // A random ID: tokens of another process have an unknown key.
  const kid = `ephemeral-${toBase64Url(randomBytes(6))}`;
  return new SecretKeyRing([toRingKey({ kid, key: randomBytes(32) })]);
}

function assertUsable(
  key: RawKey,
  index: number,
  all: readonly RawKey[],
  environment: string | undefined,
): void {
  const text = toBase64Url(key.key);
  if (environment !== 'test' && publishedTestKeys.includes(text)) {
    throw keyError(index, all.length, 'is a published test key');
  }
  if (environment !== 'test' && environment !== 'development' && isWeakKey(key.key)) {
    throw keyError(index, all.length, `is not random and can be guessed. ${howToMakeOne}`);
  }
  for (const [earlier, other] of all.slice(0, index).entries()) {
    if (other.kid === key.kid) {
      const problem = `has the ID of key ${earlier + 1}: give each key a unique ID, as in k2:…`;
      throw keyError(index, all.length, problem);
    }
    if (toBase64Url(other.key) === text)
      throw keyError(index, all.length, `has the bytes of key ${earlier + 1}`);
  }
}

function toRingKey({ kid, key }: RawKey): RingKey {
  let extracted: Uint8Array | undefined;
  const prk = (): MaybePromise<Uint8Array> =>
    extracted ?? chain(extract(key), (bytes) => (extracted = bytes));
  // On some runtimes, a promise cannot outlive its request: there, on first use.
  if (loadNode() !== undefined) void prk();
  return { kid, prk };
}
