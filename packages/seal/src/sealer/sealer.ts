import type { MaybePromise } from '../model/maybe-promise.ts';
import type { Claims, Purpose } from '../token/claims.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Limits } from '../token/token-limits.ts';
import type { StoredStream, Stream } from '../token/layout.ts';

/**
 * Expectations of a token. Purpose, audience, and time are always checked, the optional members
 * only if present.
 */
export interface Expectations {
  readonly purpose: Purpose;
  /** Allowed methods of the start of the saga. */
  readonly methods?: readonly string[];
  /** Repeated call of the client. */
  readonly entry?: { readonly target?: string; readonly argsDigest?: string };
  /** Principal of the caller. `null` for an anonymous caller. */
  readonly principal?: string | null;
  /** Supported engine versions, both included. */
  readonly engines?: { readonly min: number; readonly max: number };
  /**
   * Refuses tokens sealed before this time (ms since the epoch), after a leak of keys or tokens.
   */
  readonly rejectIssuedBefore?: number;
  /**
   * Also opens expired tokens: for operators, and for tokens that never left the host. Never for
   * tokens of a client.
   */
  readonly ignoreExpiry?: boolean;
  /**
   * Also opens tokens from the future. The caller checks them by {@link hasBegun}, after every
   * other check.
   */
  readonly allowFuture?: boolean;
  /** Expected saga ID. */
  readonly sid?: string;
}

/** Contents of a token. */
export interface Sealed {
  readonly claims: Claims;
  readonly purpose: Purpose;
  readonly audience: string;
  /** ID of the key. */
  readonly kid: string;
  /** ID of the saga. */
  readonly sid: string;
  /** Streams in the order in which they were sealed. */
  readonly streams: readonly Uint8Array[];
  /** The same streams as the token stores them. */
  readonly stored: readonly StoredStream[];
}

/**
 * Seals and opens the tokens of a service. Results of the `fast` implementation need no `await`.
 */
export interface Sealer {
  /** Creates a saga ID: 16 random bytes in base64url, readable in every token. */
  newSagaId(): string;
  /**
   * Seals claims and streams with the first key of the ring. Throws TokenTooLarge, or TypeError for
   * bad claims or a bad saga ID.
   */
  seal(
    purpose: Purpose,
    sid: string,
    claims: Claims,
    streams: readonly Stream[],
  ): MaybePromise<string>;
  /**
   * Derives 32 bytes from a name and the first key of the ring: the same in each process of the
   * service, until its first key changes.
   */
  deriveSecret(name: string): MaybePromise<Uint8Array>;
  /**
   * Opens a token of this service that meets the expectations. Throws only TokenRefused, with a
   * fixed message.
   */
  open(token: string, expect: Expectations): MaybePromise<Sealed>;
}

/** Options of `createSealer`. */
export interface SealerOptions {
  readonly ring: KeyRing;
  /** Name of the service. Protects against mistakes, not against a service that shares the keys. */
  readonly audience: string;
  /** @default defaultLimits */
  readonly limits?: Partial<Limits>;
  /** Returns milliseconds since the epoch. @default Date.now */
  readonly clock?: () => number;
  /** Returns new unpredictable bytes. Default: the generator of the platform. */
  readonly random?: (bytes: number) => Uint8Array;
  /**
   * `fast` uses `node:crypto` and is synchronous. `portable` uses WebCrypto. Both use the same
   * tokens. Default `auto`: `fast` if possible.
   */
  readonly implementation?: 'auto' | 'fast' | 'portable';
}
