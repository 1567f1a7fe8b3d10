/**
 * What a request may do with a used token: the one place that decides it. A token is used when a
 * request claims its turn. Later requests with the token are compared with the one that used it.
 *
 * A claim runs the turn, gets the stored response, waits, or is refused:
 *
 * 1. The token must be the same (`jti`). Two tokens of one turn are copies of one saga, of which
 *    only one may go on.
 * 2. The same request (same action, same answers) repeats the one that used the token. A request
 *    that `follows` is treated as the same, whatever its answers are.
 * 3. A finished turn gives its response to the same request, and to one that `ends` the saga.
 * 4. A running turn lets them wait, until its lease is over.
 * 5. After that the turn is interrupted, and nobody knows which of its effects happened. Whoever
 *    takes it over first runs the stored request to its end: the same request, one that `follows`
 *    or `ends` it, and one that only `awaits` it and has other answers to give afterwards.
 * 6. A request whose token only time has moved on follows the saga to its newest turn if the
 *    response is forgotten (`relate`). Another answer to the same question, with a later token, is
 *    a conflict, and so is a cancellation.
 * 7. A start is a turn like any other, found by its name. Whoever repeats it also gets the response of
 *    a cancellation, and takes over none.
 *
 * What must never happen: a turn runs with two different requests, or an interrupted turn is
 * forgotten. Hence `isAgain`: once a lease ended without a result, the turn can only be released,
 * and never becomes unused again.
 */
import type { GuardClaim } from '../model/guard.ts';

/** The request that used a token. */
interface UsedBy {
  /** ID of the token. */
  readonly jti: string;
  readonly action: GuardClaim['action'];
  /** Digest of the answers. */
  readonly digest: string;
  /** What the answers decided. */
  readonly decisions?: readonly string[] | undefined;
  /** ID of the saga that a start began. Absent: the entry belongs to the saga. */
  readonly sagaId?: string | undefined;
}

/** Facts about a token whose turn runs, or was interrupted. The body of its entry is the request. */
export interface UnfinishedToken extends UsedBy {
  /**
   * - `leased`: a request runs the turn, or has died.
   * - `released`: the request ended without a result.
   */
  readonly status: 'leased' | 'released';
  /** Time that a lease lasts, in milliseconds, from the write of the entry. */
  readonly leaseMs: number;
  /** `true` if an earlier lease ended without a result: the effects of the turn are unknown. */
  readonly isAgain: boolean;
  /** Time until which the response will be kept (ms since the epoch). */
  readonly respondsUntilMs: number;
  /** Time until which the token is known (ms since the epoch). */
  readonly expiresAtMs: number;
}

/**
 * Facts about a token whose turn has ended. The body of its entry is the response, until it
 * expires. These facts stay for weeks, so there are no others.
 */
export interface FinishedToken extends UsedBy {
  readonly status: 'finished';
}

/** Facts about a used token, as the store holds them. */
export type UsedToken = UnfinishedToken | FinishedToken;

/** A used token with its body, and when it was written. */
export interface StoredToken {
  readonly used: UsedToken;
  /** The sealed request of an unfinished turn, or the sealed response of a finished one. */
  readonly body: string | undefined;
  readonly writtenAtMs: number;
}

/** What a claim may do. `isOther`: with the request or the response of another request. */
export type Decision =
  | { readonly do: 'refuse'; readonly because: 'busy' | 'conflict' }
  | {
      readonly do: 'respond';
      /** Undefined: the response was forgotten, as the saga has gone on, or it has expired. */
      readonly response: string | undefined;
      readonly isOther: boolean;
    }
  | {
      readonly do: 'run';
      readonly used: UnfinishedToken;
      /** Sealed request of the interrupted turn, which runs first. */
      readonly interrupted: string | undefined;
      readonly isOther: boolean;
    };

type Asked = Pick<
  GuardClaim,
  | 'sagaId'
  | 'turn'
  | 'jti'
  | 'action'
  | 'digest'
  | 'decisions'
  | 'follows'
  | 'learnsEnd'
  | 'ends'
  | 'awaits'
  | 'leaseMs'
  | 'expiresAt'
  | 'respondsUntil'
>;

/**
 * Decides about a claim.
 * @param stored - undefined if the token was never used
 * @param nowMs - time of the store
 */
export function decide(stored: StoredToken | undefined, claim: Asked, nowMs: number): Decision {
  if (stored === undefined)
    return { do: 'run', used: firstUse(claim), interrupted: undefined, isOther: false };
  const { used, body } = stored;
  const isSameAction = used.action === claim.action;
  const hasSameAnswers = used.digest === claim.digest;
  const isSameRequest = isSameAction && (hasSameAnswers || claim.follows === true);
  const isFinished = used.status === 'finished';
  // An unfinished turn can be handed to another request only together with its own.
  const canBeHandedOver = isFinished || body !== undefined;
  const mayEnd = claim.ends === true && used.action === 'resume' && canBeHandedOver;
  // Who repeats a start learns of a cancellation, but takes over none.
  if (claim.learnsEnd === true && used.action === 'cancel' && used.jti === claim.jti) {
    if (isFinished) return { do: 'respond', response: body, isOther: false };
    return refuse(isLeased(stored, nowMs) ? 'busy' : 'conflict');
  }
  const onlyAwaits =
    claim.awaits === true && isSameAction && !isSameRequest && !isFinished && body !== undefined;
  if (used.jti !== claim.jti || !(isSameRequest || mayEnd || onlyAwaits)) return refuse('conflict');
  if (isFinished) {
    return { do: 'respond', response: body, isOther: !isSameRequest };
  }
  if (isLeased(stored, nowMs)) return refuse('busy');
  if (!hasSameAnswers && body === undefined) return refuse('conflict');
  return {
    do: 'run',
    used: {
      ...used,
      status: 'leased',
      leaseMs: claim.leaseMs,
      // Who only awaits the turn runs it to its end with its own request, so its effects get known.
      isAgain: used.isAgain || !onlyAwaits,
      respondsUntilMs: Math.max(used.respondsUntilMs, respondsUntil(claim)),
    },
    interrupted: body,
    isOther: onlyAwaits,
  };
}

/** `true` while a request holds the lease of a turn. */
function isLeased({ used, writtenAtMs }: StoredToken, nowMs: number): boolean {
  return used.status === 'leased' && nowMs < writtenAtMs + used.leaseMs;
}

/**
 * Relates the use of a later token to what a request has decided with an older one, which only time
 * has moved on: it is the same decision, has nothing to do with it, or contradicts it.
 */
export function relate(
  later: UsedToken,
  { decided, digest }: Pick<GuardClaim, 'decided' | 'digest'>,
): 'same' | 'none' | 'conflict' {
  if (decided === undefined) return 'none';
  const isCancel = later.action === 'cancel';
  if (decided === 'cancel') {
    if (isCancel) return 'same';
    return later.digest === digest ? 'none' : 'conflict';
  }
  if (isCancel) return 'conflict';
  const questions = new Set(decided.map((decision) => questionOf(decision)));
  const related = (later.decisions ?? []).filter((other) => questions.has(questionOf(other)));
  if (related.length === 0) return 'none';
  return related.every((other) => decided.includes(other)) ? 'same' : 'conflict';
}

/** The part of a decision that names its question. */
function questionOf(decision: string): string {
  return decision.slice(0, 8);
}

function firstUse(claim: Asked): UnfinishedToken {
  const { sagaId, turn, jti, action, digest, decisions, leaseMs, expiresAt } = claim;
  return {
    jti,
    action,
    digest,
    decisions,
    ...(turn === 0 ? { sagaId } : {}),
    status: 'leased',
    leaseMs,
    isAgain: false,
    respondsUntilMs: respondsUntil(claim),
    expiresAtMs: expiresAt,
  };
}

/** The store forgets the response with the token, at the latest. */
function respondsUntil({ respondsUntil: until, expiresAt }: Asked): number {
  return Math.min(until ?? expiresAt, expiresAt);
}

function refuse(because: 'busy' | 'conflict'): Decision {
  return { do: 'refuse', because };
}

/**
 * Facts about a token whose lease ends without a result; undefined if the token is good again.
 * @param ranNothing - `true` if this lease had no effects
 */
export function letGo(used: UnfinishedToken, ranNothing: boolean): UnfinishedToken | undefined {
  return ranNothing && !used.isAgain ? undefined : { ...used, status: 'released' };
}

/**
 * Facts about a token whose turn has ended with a response.
 * @param undecided - digest of a request without answers, if the turn has refused all answers
 */
export function finished(used: UnfinishedToken, undecided?: string): FinishedToken {
  const { jti, action, sagaId } = used;
  const { digest, decisions } = undecided === undefined ? used : { digest: undecided };
  return { jti, action, digest, decisions, sagaId, status: 'finished' };
}
