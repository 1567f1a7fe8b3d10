import type { Awaitable } from '@mcp-saga/core';
import type { Charge } from './saga-store.ts';

/**
 * Claim of a request for the turn of its token. The host makes the claim after all other checks.
 */
export interface GuardClaim {
  /**
   * ID of the saga. Of a start (turn 0) that is known already, the guard returns the ID of the saga
   * that the first request began.
   */
  readonly sagaId: string;
  /** Turn in which the token was sealed. 0: the claim starts the saga. */
  readonly turn: number;
  /** ID of the token, or the name of the start. */
  readonly jti: string;
  readonly action: 'resume' | 'cancel';
  /** Digest of the answers in the request: equal for the same token with the same answers. */
  readonly digest: string;
  /**
   * What the answers decide: 8 characters of the digest of each question, and 8 of its answer.
   * Stored with the use of the token. Default: nothing.
   */
  readonly decisions?: readonly string[] | undefined;
  /**
   * What a request decides that did not use the token: the claim, without its answers, follows the
   * saga. If a later token was used with the same decision, the request is known; with another
   * decision about the same question, it is a conflict. `cancel`: it is a conflict with any decision.
   * Default: what used later tokens does not matter.
   */
  readonly decided?: readonly string[] | 'cancel' | undefined;
  /**
   * `true` if the request accepts the response of any earlier request with the same token, or waits
   * for that response. The request replaces an interrupted request only if the guard returns the
   * stored request.
   */
  readonly follows?: boolean;
  /**
   * `true` if the request also accepts the response of a cancellation: it repeats a start, and
   * follows the saga from there.
   */
  readonly learnsEnd?: boolean;
  /**
   * Sealed content of the request, stored until the turn finishes, for another request to finish
   * the turn. A guard without it leaves an interrupted turn to the same request.
   */
  readonly request?: string;
  /**
   * `true` if the claim is for an absent client: it takes over an interrupted turn, or gets the
   * response of the turn.
   */
  readonly ends?: boolean;
  /**
   * `true` if the request waits for an unfinished request with the same token, which may leave the
   * token good. The guard returns an interrupted request as `other`, to run first.
   */
  readonly awaits?: boolean;
  /**
   * Time after which another request may take over the turn, in milliseconds. Measure it by one
   * clock, that of the store. If a guard measures by the clocks of the hosts (`now`), a host takes
   * over a lease early by the difference of the clocks, at most 30 s.
   */
  readonly leaseMs: number;
  /**
   * Time at which the guard may forget the turn, in milliseconds since the epoch. No token to end
   * the turn opens later.
   */
  readonly expiresAt: number;
  /**
   * Time at which the guard may forget the response of the turn, in milliseconds since the epoch.
   * The guard still knows that the token was used. If several claims leased the turn, the latest
   * time counts. Default: `expiresAt`.
   */
  readonly respondsUntil?: number;
  /**
   * Time of the host (ms since the epoch). A guard with its own clock throws if the two differ by
   * over `skewMs`.
   */
  readonly now?: number;
  /** `true` if no earlier response may be forgotten: each token returns its own page. */
  readonly keepsResponses?: true | undefined;
  /** Principal who pays for what the guard stores of the turn. Default: nobody. */
  readonly charge?: Charge | undefined;
}

/** Right to run one turn until the lease expires. Opaque to the host, and plain JSON. */
export interface Fence {
  readonly sagaId: string;
  readonly turn: number;
  /**
   * Rises with each lease of the turn, even a forgotten one, for the guard to detect a late
   * `finish`.
   */
  readonly number: number;
}

/** What is known of a turn only at its end. */
export interface TurnResult {
  /** Time until which the response is kept, at least (ms since the epoch). Default: as claimed. */
  readonly respondsUntil?: number | undefined;
  /**
   * Digest of a request without answers, if the turn has refused all answers of its request: they
   * have decided nothing. Default: as claimed.
   */
  readonly undecided?: GuardClaim['digest'] | undefined;
}

/**
 * Decision of a guard about a claim:
 *
 * - `run`: the turn may run. Finish it with the fence. `interrupted` is the stored request of an
 *   interrupted turn with an expired lease: run the turn with that request instead. `other`: the
 *   claim awaits that request, and has other answers.
 * - `busy`: the same request is running, or a request that the claim ends or awaits.
 * - `conflict`: the token was used by another request, or a newer token was used.
 * - `full`: the principal of `charge` is at the limit, and no further turn begins.
 * - `sagaId`: ID of the saga of a start that another request has begun.
 * - `response`: the response of the same request, or of the later `turn` to which the saga has gone
 *   on since. `wentOn` is `true` if the token in that response was used. `other` marks the response
 *   of another request, which the claim was to end. `isKnown`: the `decided` request used a token on
 *   the way to the later turn.
 *
 * Return `interrupted` to the same request, and to a request that `ends`, `follows`, or `awaits`
 * it. The effects of the interrupted turn are unknown, so the host first runs that turn to its end,
 * under this fence.
 */
export type GuardVerdict =
  | {
      readonly run: Fence;
      readonly interrupted?: string;
      readonly other?: true;
      readonly sagaId?: string;
    }
  | 'busy'
  | 'conflict'
  | 'full'
  | {
      readonly response: string;
      readonly wentOn?: boolean;
      readonly other?: true;
      readonly turn?: number;
      readonly isKnown?: true;
      readonly sagaId?: string;
    };

/**
 * Optional store that rejects reused tokens. For each turn, it stores which request used the token,
 * and the sealed response. Sees IDs, digests, and ciphertext only. All methods are atomic.
 */
export interface SagaGuard {
  begin(claim: GuardClaim): Awaitable<GuardVerdict>;
  /**
   * Stores the response of a turn, and forgets that of two turns before unless the claim
   * `keepsResponses`. Returns `false` if the lease expired and another request took over the turn.
   */
  finish(fence: Fence, sealedResponse: string, result?: TurnResult): Awaitable<boolean>;
  /**
   * Lets the lease of a turn count from now. Called while a step runs for long, so that no other
   * request takes over a turn whose process lives.
   * @param now - time of the host, in milliseconds since the epoch
   * @returns `false` if the lease expired and another request took over the turn, or if it has ended
   */
  renew(fence: Fence, now?: number): Awaitable<boolean>;
  /**
   * Ends the lease of a turn without a response, which may have run. Only the same request, or one
   * with `ends`, may follow.
   */
  release(fence: Fence): Awaitable<void>;
  /**
   * Forgets a turn without effects: its token stays valid. A turn that was leased before is
   * released instead, since the effects of that lease are unknown.
   * @returns `false` if the lease expired and another request took over the turn
   */
  forget(fence: Fence): Awaitable<boolean | undefined>;
  /**
   * Returns the time since which the guard knows the used tokens, in milliseconds since the epoch.
   * The host rejects older tokens, except messages of a queue, and does not run `once` steps of older
   * sagas. Called when a host is created, and for each token. Implement it if a restart forgets all
   * entries.
   * @param now - time of the host, in milliseconds since the epoch
   */
  remembersSince?(now: number): number;
  /**
   * Claims the key of a step that runs once.
   * @param now - time of the host, in milliseconds since the epoch
   * @returns `true` for the first call, `false` for each later one
   */
  claim(key: string, expiresAt: number, now?: number): Awaitable<boolean>;
}
