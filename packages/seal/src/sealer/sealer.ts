import type { MaybePromise } from '../model/maybe-promise.ts';
import type { Claims, Purpose } from '../token/claims.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Limits } from '../token/token-limits.ts';
import type { Stream } from '../token/layout.ts';

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

/** What a token held. */
export interface Sealed {
  readonly claims: Claims;
  readonly purpose: Purpose;
  readonly audience: string;
  /** The id of the key that sealed it. */
  readonly kid: string;
  /** The id of the saga. */
  readonly sid: string;
  /** The streams as they were given, in their order. */
  readonly streams: readonly Uint8Array[];
}

/** Seals and opens the tokens of one service. Its results need no `await` on the fast path. */
export interface Sealer {
  /** A new id for a saga: 16 random bytes, base64url. It is readable in every token and opens nothing. */
  newSagaId(): string;
  /**
   * Seals claims and streams into a token, with the ring's first key.
   *
   * @throws TokenTooLarge when it would be over a limit; TypeError for claims of wrong types and for an id that
   * `newSagaId` could not have made.
   */
  seal(purpose: Purpose, sid: string, claims: Claims, streams: readonly Stream[]): MaybePromise<string>;
  /**
   * Opens a token, if it is one of this service and agrees with what is expected.
   *
   * @throws TokenRefused, and nothing else, always with the same message.
   */
  open(token: string, expect: Expectations): MaybePromise<Sealed>;
}

/** Options of `createSealer`. */
export interface SealerOptions {
  readonly ring: KeyRing;
  /** The name of the service the tokens are for. A guard against mistakes, not against who shares the keys. */
  readonly audience: string;
  /** Defaults: `defaultLimits`. */
  readonly limits?: Partial<Limits>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Bytes no one can guess, and new ones on every call. Default: the platform's generator. */
  readonly random?: (bytes: number) => Uint8Array;
  /**
   * `fast` is synchronous and needs `node:crypto`; `portable` needs WebCrypto and gives promises; `auto`, the
   * default, is `fast` where it works. Both write and open the very same tokens.
   */
  readonly implementation?: 'auto' | 'fast' | 'portable';
}
