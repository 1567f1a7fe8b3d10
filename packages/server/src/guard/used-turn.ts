import type { GuardClaim } from '../model/guard.ts';

/**
 * Used token. A finished turn holds only the response, and the facts to match a repeated request.
 */
export interface UsedTurn extends Expiring {
  /**
   * Empty once the response of a finished turn has expired: every further request is a conflict.
   */
  jti: string;
  readonly action: GuardClaim['action'];
  digest: string;
  readonly expiresAt: number;
  respondsUntil: number;
  /** Undefined once the turn is finished. */
  lease: Lease | undefined;
  response: string | undefined;
  readonly owner: Owner | undefined;
}

/** Lease of a running or interrupted turn. */
export interface Lease {
  readonly number: number;
  readonly until: number;
  /** `true` if an earlier lease of the turn has an unknown outcome. */
  readonly isAgain: boolean;
  readonly request: string | undefined;
}

/** Principal, with the number of kept bytes and known turns. */
export interface Owner {
  readonly id: string;
  bytes: number;
  turns: number;
}

/** Entry of an `ExpiryQueue`, which writes `index`. */
export interface Expiring {
  readonly key: string;
  /** Milliseconds since the epoch. Change it only while the queue does not hold the entry. */
  dueAt: number;
  index: number;
}
