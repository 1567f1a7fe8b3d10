import { optionError } from '../model/option-error.ts';
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
import { unpack, type StoredStream } from '../token/layout.ts';
import { resolveLimits, type Limits } from '../token/token-limits.ts';
import { randomBytes } from '../digest/hash.ts';
import type { Expectations, SealerOptions } from './sealer.ts';

/** Key of the ring with the header of its tokens. */
export interface SealingKey extends RingKey {
  readonly header: HeaderFormat;
}

/** Parts of a sealer that do not change from token to token. */
export interface Setup {
  readonly audience: string;
  readonly limits: Limits;
  readonly codec: Base64UrlCodec;
  readonly clock: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** Sealing key. */
  readonly first: SealingKey;
  /** All keys, by ID. */
  readonly keys: ReadonlyMap<string, SealingKey>;
  readonly envelopes: EnvelopeReader;
}

/** Checks the options of a sealer, and prepares the parts. */
export function prepareSetup(options: SealerOptions, codec: Base64UrlCodec): Setup {
  const { ring, audience, clock = Date.now, random = randomBytes } = options;
  if (typeof audience !== 'string' || audience === '' || hasLoneSurrogate(audience)) {
    throw optionError('The audience of a sealer must be the name of the service');
  }
  const limits = resolveLimits(options.limits);
  const [first, ...others] = readRing(ring);
  const prepare = (key: RingKey): SealingKey => ({
    ...key,
    header: createHeaderFormat(key.kid, codec),
  });
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

/** @throws TypeError for an unknown purpose, or a bad saga ID */
export function assertSealable(purpose: Purpose, sid: string): void {
  if (!isPurpose(purpose)) throw optionError('Unknown purpose of a token');
  if (!isSid(sid)) throw optionError('The ID of a saga must be 16 bytes in base64url');
}

/** @throws TokenTooLarge */
export function assertTokenFits(
  plaintextLength: number,
  headerLength: number,
  { maxTokenBytes }: Limits,
): void {
  const length = measureToken(headerLength, plaintextLength);
  if (length > maxTokenBytes) throw new TokenTooLarge('token', length, maxTokenBytes);
}

/** Finds the key of a token. Throws TokenRefused `purpose` or `unknown_key`. */
export function findKey(setup: Setup, { kid }: Envelope, purpose: Purpose): SealingKey {
  if (!isPurpose(purpose)) throw new TokenRefused('purpose');
  const key = setup.keys.get(kid);
  if (key === undefined) throw new TokenRefused('unknown_key');
  return key;
}

/**
 * Parses a decrypted token, and checks the claims before any stream is inflated.
 * Throws TokenRefused if the plaintext, the envelope, or the expectations disagree.
 */
export function admit(
  { audience, clock, limits }: Setup,
  { kid, sid }: Envelope,
  plaintext: Uint8Array,
  expect: Expectations,
): { readonly sealed: BoundClaims; readonly streams: readonly StoredStream[] } {
  const { claims, streams } = unpack(plaintext, limits);
  const sealed = decodeClaims(claims, { kid, sid });
  assertExpected(sealed, { purpose: expect.purpose, audience }, expect, clock());
  return { sealed, streams };
}

const nonceLabel = 'mcp-saga/1 nonce';

/**
 * Input of the HMAC that makes the nonce of a ticket, by the key of the token: equal tickets have
 * one text, so that a repeated request to a provider carries the same URL. Different plaintexts
 * have different nonces. Undefined for other purposes, with random nonces.
 */
export function nonceInput(purpose: Purpose, plaintext: Uint8Array): Uint8Array | undefined {
  if (purpose !== 'ticket') return undefined;
  const input = new Uint8Array(nonceLabel.length + plaintext.length);
  input.set(new TextEncoder().encode(nonceLabel));
  input.set(plaintext, nonceLabel.length);
  return input;
}

function exactly(length: number, bytes: Uint8Array): Uint8Array {
  // A repeated nonce reveals the key stream.
  if (bytes.length !== length)
    throw optionError('`random` returned a wrong number of bytes', { type: RangeError });
  return bytes;
}

/**
 * Maximum difference between the clocks of two hosts, and of a host and its store, in milliseconds.
 * A store that has its own clock refuses a host whose clock differs by more.
 */
export const skewMs: number = 30_000;

/** Checks a decrypted token. Throws TokenRefused with the first reason found. */
export function assertExpected(
  sealed: BoundClaims,
  bound: Pick<Binding, 'purpose' | 'audience'>,
  expect: Expectations,
  now: number,
): void {
  const { claims } = sealed;
  // The key is bound to both values: a second check against a fault in the key schedule. The key ID
  // and the saga ID are in the header alone, which the tag authenticates.
  if (sealed.purpose !== bound.purpose) throw new TokenRefused('purpose');
  if (sealed.audience !== bound.audience) throw new TokenRefused('audience');
  if (expect.sid !== undefined && expect.sid !== sealed.sid) throw new TokenRefused('sid');
  assertTimely(claims, expect, now);
  if (expect.methods !== undefined && !expect.methods.includes(claims.method))
    throw new TokenRefused('method');
  const { target, argsDigest } = expect.entry ?? {};
  if (target !== undefined && target !== claims.entry.target) throw new TokenRefused('target');
  if (argsDigest !== undefined && argsDigest !== claims.entry.argsDigest)
    throw new TokenRefused('arguments');
  if (expect.principal !== undefined && expect.principal !== claims.principal)
    throw new TokenRefused('principal');
  const { engines } = expect;
  if (engines !== undefined && !(claims.engine >= engines.min && claims.engine <= engines.max)) {
    throw new TokenRefused('engine');
  }
}

/**
 * `true` if a token and its saga began at or before `now` (ms since the epoch), with a tolerance of
 * {@link skewMs}.
 * @example
 * ```ts
 * const now = Date.now();
 * const claims = { born: now, iat: now + 10_000 };
 * console.log(hasBegun(claims, now));
 * ```
 */
export function hasBegun({ born, iat }: Pick<Claims, 'born' | 'iat'>, now: number): boolean {
  return born <= now + skewMs && iat <= now + skewMs;
}

// Each comparison states the allowed case: NaN is refused.
function assertTimely(claims: Claims, expect: Expectations, now: number): void {
  const { iat, exp } = claims;
  if (expect.allowFuture !== true && !hasBegun(claims, now))
    throw new TokenRefused('not_yet_valid');
  const lives = now < exp + skewMs;
  if (!lives && expect.ignoreExpiry !== true) throw new TokenRefused('expired');
  const isRecent = expect.rejectIssuedBefore === undefined || iat >= expect.rejectIssuedBefore;
  if (!isRecent) throw new TokenRefused('revoked');
}
