import type { Base64UrlCodec } from '../platform/base64url.ts';
import { hasLoneSurrogate } from '../digest/canonicalize.ts';
import {
  decodeClaims,
  isPurpose,
  type Purpose,
  type Binding,
  type BoundClaims,
  type Claims,
} from '../token/claims.ts';
import {
  createEnvelopeReader,
  measureToken,
  type Envelope,
  type EnvelopeReader,
  createHeaderFormat,
  isSid,
  type HeaderFormat,
} from '../token/envelope.ts';
import { TokenRefused, TokenTooLarge } from '../model/errors.ts';
import { readRing, type RingKey } from '../keys/key-ring.ts';
import { measure, type Contents } from '../token/layout.ts';
import { resolveLimits, type Limits } from '../token/token-limits.ts';
import { randomBytes } from '../digest/hash.ts';
import type { Expectations, Sealed, SealerOptions } from './sealer.ts';

/** A key of the ring with its header. */
export interface SealingKey extends RingKey {
  readonly header: HeaderFormat;
}

/** What both implementations of a sealer work with, prepared once. */
export interface Setup {
  readonly audience: string;
  readonly limits: Limits;
  readonly codec: Base64UrlCodec;
  readonly clock: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** The key that seals. */
  readonly first: SealingKey;
  /** Every key that opens, by its id. */
  readonly keys: ReadonlyMap<string, SealingKey>;
  readonly envelopes: EnvelopeReader;
}

/** Checks the options of a sealer and prepares what does not change from token to token. */
export function prepareSetup(options: SealerOptions, codec: Base64UrlCodec): Setup {
  const { ring, audience, clock = Date.now, random = randomBytes } = options;
  if (typeof audience !== 'string' || audience === '' || hasLoneSurrogate(audience)) {
    throw new TypeError('The audience of a sealer is the name of its service');
  }
  const limits = resolveLimits(options.limits);
  const [first, ...others] = readRing(ring);
  const prepare = (key: RingKey): SealingKey => ({ ...key, header: createHeaderFormat(key.kid, codec) });
  const keys = [prepare(first), ...others.map(prepare)] as const;
  return {
    audience,
    limits,
    codec,
    clock,
    random: (length) => exactly(length, random(length)),
    first: keys[0],
    keys: new Map(keys.map((key) => [key.kid, key])),
    envelopes: createEnvelopeReader(
      keys.map(({ header }) => header),
      codec,
      limits.maxTokenBytes,
    ),
  };
}

/** @throws TypeError for a purpose or the id of a saga that no token can have. */
export function assertSealable(purpose: Purpose, sid: string): void {
  if (!isPurpose(purpose)) throw new TypeError('A token has no such purpose');
  if (!isSid(sid)) throw new TypeError('The id of a saga is 16 bytes, base64url');
}

/** @throws TokenTooLarge, before anything is encrypted. */
export function assertTokenFits(contents: Contents, headerLength: number, { maxTokenBytes }: Limits): void {
  const length = measureToken(headerLength, measure(contents));
  if (length > maxTokenBytes) throw new TokenTooLarge('token', length, maxTokenBytes);
}

/** Finds the key of a token. Throws TokenRefused for a purpose that no token has, and for a key outside the ring. */
export function findKey(setup: Setup, { kid }: Envelope, purpose: Purpose): SealingKey {
  if (!isPurpose(purpose)) throw new TokenRefused('purpose');
  const key = setup.keys.get(kid);
  if (key === undefined) throw new TokenRefused('unknown_key');
  return key;
}

/** Returns the claims of a decrypted token. Throws TokenRefused if they differ from its envelope or from what is expected. */
export function admit(
  setup: Setup,
  { kid, sid }: Envelope,
  text: string,
  expect: Expectations,
): Omit<Sealed, 'streams'> {
  const { audience, clock } = setup;
  const sealed = decodeClaims(text);
  if (sealed === undefined) throw new TokenRefused('malformed');
  assertExpected(sealed, { purpose: expect.purpose, audience, kid, sid }, expect, clock());
  return sealed;
}

function exactly(length: number, bytes: Uint8Array): Uint8Array {
  // A short nonce would repeat, and a nonce that repeats gives the key stream away.
  if (bytes.length !== length) throw new RangeError('The source of randomness gave another number of bytes');
  return bytes;
}

/** How far the clocks of two instances may lie apart, in milliseconds. */
export const skewMs: number = 30_000;

/** Checks a decrypted token against its envelope and expectations. Throws TokenRefused with the first reason found. */
export function assertExpected(sealed: BoundClaims, bound: Binding, expect: Expectations, now: number): void {
  const { claims } = sealed;
  // The key is bound to these four already; inside they hold against a fault in the key schedule.
  if (sealed.purpose !== bound.purpose) throw new TokenRefused('purpose');
  if (sealed.audience !== bound.audience) throw new TokenRefused('audience');
  if (sealed.kid !== bound.kid) throw new TokenRefused('unknown_key');
  if (sealed.sid !== bound.sid) throw new TokenRefused('sid');
  if (expect.sid !== undefined && expect.sid !== sealed.sid) throw new TokenRefused('sid');
  assertTimely(claims, expect, now);
  if (expect.methods !== undefined && !expect.methods.includes(claims.method))
    throw new TokenRefused('method');
  const { target, argsDigest } = expect.entry ?? {};
  if (target !== undefined && target !== claims.entry.target) throw new TokenRefused('target');
  if (argsDigest !== undefined && argsDigest !== claims.entry.argsDigest) throw new TokenRefused('arguments');
  if (expect.principal !== undefined && expect.principal !== claims.principal)
    throw new TokenRefused('principal');
  const { engines } = expect;
  if (engines !== undefined && !(claims.engine >= engines.min && claims.engine <= engines.max)) {
    throw new TokenRefused('engine');
  }
}

/** Returns `true` unless the token, or its saga, began later than the clock of this instance and the skew allow. */
export function hasBegun({ born, iat }: Pick<Claims, 'born' | 'iat'>, now: number): boolean {
  return born <= now + skewMs && iat <= now + skewMs;
}

// Every comparison states what is allowed, so that a time that is no number refuses.
function assertTimely(claims: Claims, expect: Expectations, now: number): void {
  const { iat, exp } = claims;
  if (expect.allowFuture !== true && !hasBegun(claims, now)) throw new TokenRefused('not_yet_valid');
  const lives = now < exp + skewMs;
  if (!lives && expect.ignoreExpiry !== true) throw new TokenRefused('expired');
  const isRecent = expect.rejectIssuedBefore === undefined || iat >= expect.rejectIssuedBefore;
  if (!isRecent) throw new TokenRefused('revoked');
}
