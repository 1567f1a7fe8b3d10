import { TokenRefused } from '../model/errors.ts';
import type { Binding, BoundClaims, Claims, Purpose } from '../token/claims.ts';

/** What must agree before a token counts. What is left out is not checked; purpose, audience and time always are. */
export interface Expectations {
  readonly purpose: Purpose;
  /** The methods that may have started the saga. */
  readonly methods?: readonly string[];
  /** What the client calls now, where it repeats its original call. */
  readonly entry?: { readonly target?: string; readonly argsDigest?: string };
  /** Who calls now; `null` for nobody known. */
  readonly principal?: string | null;
  /** The engine versions that can go on, both included. */
  readonly engines?: { readonly min: number; readonly max: number };
  /** Refuses what was sealed earlier, in milliseconds since the epoch: for when a key or a token got out. */
  readonly rejectIssuedBefore?: number;
  /** Opens expired tokens too: for operators' inspection, and for what never left the host. Never for what a client brings. */
  readonly ignoreExpiry?: boolean;
  /**
   * Opens tokens that were sealed in the future, too: for a caller that compares `born` and `iat` with its clock itself, after
   * every other check.
   */
  readonly allowFuture?: boolean;
  /** The saga the token must be of. */
  readonly sid?: string;
}

/** How far the clocks of two instances may lie apart, in milliseconds. */
export const skewMs: number = 30_000;

/**
 * Checks a decrypted token against its envelope and against what is expected.
 *
 * @throws TokenRefused, with the first reason found.
 */
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
