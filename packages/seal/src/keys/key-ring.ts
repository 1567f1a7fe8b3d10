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

/** Keys that seal and open tokens. The first seals, every one opens. Printing one shows no key. */
export interface KeyRing {
  /** The ids of the keys, in order. They stand in every token for all to read. */
  readonly kids: readonly string[];
  /** The ids alone. */
  toString(): string;
  /** The ids alone. */
  toJSON(): string;
}

/** Options of {@link createKeyRing}. */
export interface KeyRingOptions {
  /** `NODE_ENV`; it is not read from the process. */
  readonly environment?: string;
  /** Whether the server talks over stdio, so that its client ends when it ends. Default false. */
  readonly stdio?: boolean;
  /** Receives one warning when the key is random although none was asked for, or in production. Default: ignored. */
  readonly warn?: (message: string) => void;
}

/** One key of a ring: its id, and the pseudorandom key of the key schedule. */
export interface RingKey {
  readonly kid: string;
  readonly prk: () => MaybePromise<Uint8Array>;
}

let keysOf: (ring: KeyRing) => readonly [RingKey, ...RingKey[]];

class SecretKeyRing implements KeyRing {
  readonly kids: readonly string[];
  readonly #keys: readonly [RingKey, ...RingKey[]];

  static {
    // Only this module can read them: no method of an object that others hold gives its keys away.
    keysOf = (ring) => {
      if (ring instanceof SecretKeyRing) return ring.#keys;
      throw new TypeError('The ring of keys was not made by createKeyRing');
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
 * Reads the keys and makes a ring of them. Rotation is `old,new`, then `new,old`, then `new`, each rolled out
 * everywhere before the next. Who has a key can do all that this service can: share none.
 *
 * Left out, keys are random and die with the process, which is right only over stdio and where the environment is
 * exactly `development` or `test`; anywhere else two instances could not continue each other's sagas.
 *
 * @throws SealError with code `keys` for no keys, and for a bad, short, repeated or published key; also for a weak key,
 * unless the environment is exactly `development` or `test`. It names the position, never the value.
 */
export function createKeyRing(keys: KeysOption | undefined, options: KeyRingOptions = {}): KeyRing {
  if (keys === undefined) {
    if (options.stdio !== true && options.environment !== 'development' && options.environment !== 'test') {
      throw new SealError('keys', `No keys: ${howToGiveKeys}`);
    }
    options.warn?.('No keys: sagas end with this process. Set SAGA_KEYS to keep them.');
  }
  if (keys === 'ephemeral' && options.environment === 'production') {
    options.warn?.(
      "keys: 'ephemeral' in production: other processes cannot open these tokens, and all tokens are lost when " +
        'it ends. Set SAGA_KEYS to keep them.',
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
 * A new random key, written as `SAGA_KEYS` takes it: `k1:<32 bytes base64url>`.
 *
 * @throws TypeError for an id that is not 1 to 64 letters, digits and `. _ ~ -`.
 */
export function generateKey(kid: string = 'k1'): string {
  if (!isKid(kid)) throw new TypeError('The id of a key is 1 to 64 letters, digits and . _ ~ -');
  return `${kid}:${toBase64Url(randomBytes(32))}`;
}

/** Returns the keys of a ring, the sealing one first. Throws TypeError for a ring that {@link createKeyRing} did not make. */
export function readRing(ring: KeyRing): readonly [RingKey, ...RingKey[]] {
  return keysOf(ring);
}

function createEphemeral(): KeyRing {
  // A random id, so that the token of another process is refused as of an unknown key.
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
    throw keyError(index, all.length, 'is a published test key: everybody has it');
  }
  if (environment !== 'test' && environment !== 'development' && isWeakKey(key.key)) {
    throw keyError(index, all.length, `is not random and can be guessed. ${howToMakeOne}`);
  }
  for (const [earlier, other] of all.slice(0, index).entries()) {
    if (other.kid === key.kid) {
      const problem = `has the id of key ${earlier + 1}: give each an id of its own, as in k2:…`;
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
  // Where it takes no promise, now; elsewhere on first use, for a promise may not outlive the request it began in.
  if (loadNode() !== undefined) void prk();
  return { kid, prk };
}
