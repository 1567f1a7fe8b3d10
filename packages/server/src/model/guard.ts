import type { Awaitable } from '@mcp-saga/core';

/** What a request wants to do with a token: asked of the guard after every other check. (T13) */
export interface GuardClaim {
  readonly sagaId: string;
  /** The turn the token was sealed in. */
  readonly turn: number;
  /** The token's own id. */
  readonly jti: string;
  readonly action: 'resume' | 'cancel';
  /** Covers what the request brings: the same token with the same answers has the same digest. */
  readonly digest: string;
  /**
   * Whether the request goes on with whatever was brought before it: the response there is answers it, and it waits
   * for the one that is being made, though their digest is another. It takes the place of a request that was not
   * finished only where it is handed what that one brought.
   */
  readonly follows?: boolean;
  /**
   * What the request brings, sealed: kept until the turn is finished, so that another request can finish it. A guard that does
   * not keep it leaves an interrupted turn to the same request.
   */
  readonly request?: string;
  /** Ends what another request began, for a client that does not return: takes its interrupted turn, or gets its response. */
  readonly ends?: boolean;
  /**
   * `true` if the request waits for an unfinished request with the same token, which may leave the token good. An interrupted one
   * is given to this request to run first, as `other`.
   */
  readonly awaits?: boolean;
  /** How long the request may run before another one may take its place, in milliseconds. */
  readonly leaseMs: number;
  /** When the guard may forget the turn, in milliseconds since the epoch: nothing opens then that could end it. */
  readonly expiresAt: number;
  /**
   * When the guard may forget the response of the turn, in milliseconds since the epoch: the token that could ask for
   * it is expired then. That the token was used, it still knows. Of all that leased the turn, the latest time counts: who ends
   * it in the place of a client that has gone may have to ask again long after that one's token died. Default `expiresAt`.
   */
  readonly respondsUntil?: number;
  /** Time of the host (ms since the epoch). A guard with its own clock throws if the two differ by over 30 s, the skew of tokens. */
  readonly now?: number;
  /** The principal for whom the guard keeps the turn. Default: nothing is counted. */
  readonly owner?: GuardOwner;
}

/** A principal for whom a guard keeps requests and responses. */
export interface GuardOwner {
  /** Digest of the principal. */
  readonly id: string;
  /** Bytes that the guard may keep for the principal. With as many or more, no other turn begins. */
  readonly maxBytes: number;
}

/** The right to run one turn, until its lease is out. Opaque to the host; JSON. */
export interface Fence {
  readonly sagaId: string;
  readonly turn: number;
  /** Rises with each lease of the turn, forgotten ones included, so that a late `finish` is known. */
  readonly number: number;
}

/**
 * Decision of a guard about a claim:
 * - `run`: the turn may run. Finish it with the fence. `begun` holds the request of an interrupted turn, whose lease is out: run
 *   the turn with that request instead. `other`: the claim awaits that request, and brings its own.
 * - `busy`: the same request, or one that the claim is to end or awaits, runs now.
 * - `conflict`: the token was used with another request, or a newer token was used.
 * - `full`: the guard keeps too much for the `owner`, and no other turn begins.
 * - `response`: the same request has this response. `wentOn` is `true` if the token of the next turn was used since. `other` marks
 *   the response to another request, which the claim was to end and which ended by itself.
 *
 * Give `begun` to the same request as well as to a request that `ends`, `follows`, or `awaits` it. The effects of the interrupted turn are
 * unknown, so the host first runs that turn to its end, the same way and under this fence.
 */
export type GuardVerdict =
  | { readonly run: Fence; readonly begun?: string; readonly other?: true }
  | 'busy'
  | 'conflict'
  | 'full'
  | { readonly response: string; readonly wentOn?: boolean; readonly other?: true };

/**
 * Optional store that forbids forks: it knows which request used the token of each turn, and its sealed response. Sees IDs,
 * digests, and ciphertext. All methods are atomic.
 */
export interface SagaGuard {
  begin(claim: GuardClaim): Awaitable<GuardVerdict>;
  /** Keeps the response of a turn. False when the lease was out and another request has taken its place. */
  finish(fence: Fence, sealedResponse: string): Awaitable<boolean>;
  /** Ends the lease of a turn that may have run and has no response. Only the same request, or one that ends it, may follow. */
  release(fence: Fence): Awaitable<void>;
  /**
   * Forgets a turn that has run nothing: its token is as good as before. If the turn was leased before, it is released
   * instead, since the effects of that lease are unknown.
   *
   * @returns `false` if the lease was out and another request has taken the turn
   */
  forget(fence: Fence): Awaitable<boolean | undefined>;
  /**
   * Returns the time since which the guard knows which tokens were used, in milliseconds since the epoch. The host refuses
   * older tokens, except cancel tokens, and does not run `once` steps of older sagas. Called when a host is created, and
   * for each token. Implement it if a restart forgets all entries.
   *
   * @param now - time of the host, in milliseconds since the epoch
   */
  remembersSince?(now: number): number;
  /** Claims the key of a step that shall run once: true for the first who asks, false ever after. */
  claim(key: string, expiresAt: number): Awaitable<boolean>;
}
