import type { Fence, GuardClaim, GuardVerdict } from '@mcp-saga/server/stores';
import type { Entries } from './object-storage.ts';

/** Used token of a turn. The request, and later the response, has a separate entry. */
interface UsedTurn {
  readonly jti: string;
  readonly action: GuardClaim['action'];
  readonly digest: string;
  /** Number of the newest lease. Earlier leases cannot finish the turn. */
  readonly fence: number;
  readonly leasedUntil: number;
  /** ID of the call with the lease. */
  readonly calledBy: string;
  /** `true` if an earlier lease ended without a result, so that effects of the turn are unknown. */
  readonly isAgain: boolean;
  readonly respondsUntil: number;
  readonly expiresAt: number;
  /**
   * `forgotten`: the token is good again. The entry stays, and a late `finish` meets no lease of
   * the same number.
   */
  readonly status: 'leased' | 'done' | 'forgotten';
}

/**
 * Clocks of hosts may differ from the clock of the object by as much as tokens allow, in
 * milliseconds.
 */
const maxSkewMs = 30_000;

const turnName = (turn: number): string => `turn ${turn}`;
const contentName = (turn: number): string => `content ${turn}`;

/** Returns a used turn, unless it is forgotten. */
function usedTurn(entries: Entries, turn: number): UsedTurn | undefined {
  const used = entries.get(turnName(turn)) as UsedTurn | undefined;
  return used?.status === 'forgotten' ? undefined : used;
}

function putTurn(entries: Entries, turn: number, used: UsedTurn): void {
  entries.put(turnName(turn), used, used.expiresAt);
}

/** Claim of a turn. Its owner is counted elsewhere. */
export type TurnClaim = Omit<GuardClaim, 'owner'> & Required<Pick<GuardClaim, 'respondsUntil'>>;

/**
 * Begins a turn, as `begin` of a guard.
 * @param call - ID of the call; a repeated call has the same
 * @throws Error if a clock is wrong
 */
export function begin(entries: Entries, claim: TurnClaim, call: string): GuardVerdict {
  const { now } = entries;
  if (claim.now !== undefined && Math.abs(now - claim.now) > maxSkewMs) {
    throw new Error(
      'The clocks of the Durable Object and of this host differ by more than 30 s. Synchronize the clocks.',
    );
  }
  const { sagaId, turn, jti, action, digest, request, expiresAt, respondsUntil } = claim;
  const lease = (used: Omit<UsedTurn, 'fence' | 'leasedUntil' | 'calledBy' | 'status'>): Fence => {
    const number = Math.max(
      now,
      ((entries.get(turnName(turn)) as UsedTurn | undefined)?.fence ?? 0) + 1,
    );
    const leasedUntil = now + claim.leaseMs;
    putTurn(entries, turn, {
      ...used,
      fence: number,
      leasedUntil,
      calledBy: call,
      status: 'leased',
    });
    return { sagaId, turn, number };
  };
  const used = usedTurn(entries, turn);
  if (used === undefined) {
    entries.assertLives(expiresAt);
    entries.delete(contentName(turn));
    if (request !== undefined) entries.put(contentName(turn), request, expiresAt);
    return { run: lease({ jti, action, digest, isAgain: false, respondsUntil, expiresAt }) };
  }
  const content = entries.get(contentName(turn)) as string | undefined;
  const isDone = used.status === 'done';
  const interrupted = isDone ? undefined : content;
  const isSame = used.digest === digest;
  const isAction = used.action === action;
  const isRequest = isAction && (isSame || claim.follows === true);
  const mayEnd =
    claim.ends === true && used.action === 'resume' && (isDone || interrupted !== undefined);
  const isAwaited = claim.awaits === true && isAction && !isRequest && interrupted !== undefined;
  if (used.jti !== jti || !(isRequest || mayEnd || isAwaited)) return 'conflict';
  if (isDone) {
    if (content === undefined) return 'conflict';
    const wentOn = usedTurn(entries, turn + 1) !== undefined;
    return { response: content, wentOn, ...(isRequest ? {} : { other: true }) };
  }
  const taken =
    interrupted === undefined
      ? {}
      : { interrupted, ...(isAwaited ? { other: true as const } : {}) };
  // The store repeated the call, because the reply was lost.
  if (used.calledBy === call) {
    const run = { sagaId, turn, number: used.fence };
    return used.isAgain || isAwaited ? { run, ...taken } : { run };
  }
  if (used.leasedUntil > now) return 'busy';
  if (!isSame && interrupted === undefined) return 'conflict';
  const run = lease({
    ...used,
    // An awaited request runs to its end: its effects are known.
    isAgain: used.isAgain || !isAwaited,
    respondsUntil: Math.max(used.respondsUntil, respondsUntil),
  });
  return { run, ...taken };
}

/** Stores the response of a turn, as `finish` of a guard. */
export function finish(entries: Entries, { turn, number }: Fence, response: string): boolean {
  const used = usedTurn(entries, turn);
  if (used?.fence !== number) return false;
  // A repeated call: no two responses are equal.
  if (used.status === 'done') return entries.get(contentName(turn)) === response;
  // First: a response that is too large for an entry leaves the turn as it is.
  entries.put(contentName(turn), response, Math.min(used.respondsUntil, used.expiresAt));
  putTurn(entries, turn, { ...used, status: 'done' });
  return true;
}

/** Ends the lease of a turn without a response, as `release` of a guard. */
export function release(entries: Entries, { turn, number }: Fence): void {
  const used = usedTurn(entries, turn);
  if (used?.fence === number && used.status === 'leased')
    putTurn(entries, turn, { ...used, leasedUntil: 0, calledBy: '' });
}

/** Forgets a turn without effects, as `forget` of a guard. */
export function forget(entries: Entries, fence: Fence): boolean {
  const { turn, number } = fence;
  const used = entries.get(turnName(turn)) as UsedTurn | undefined;
  if (used?.fence !== number || used.status === 'done') return false;
  if (used.isAgain) {
    release(entries, fence);
    return true;
  }
  putTurn(entries, turn, { ...used, status: 'forgotten' });
  entries.delete(contentName(turn));
  return true;
}

/**
 * Claims a key, as `claim` of a guard. @param call - ID of the call; a repeated call has the same
 */
export function claimKey(entries: Entries, key: string, expiresAt: number, call: string): boolean {
  const name = `claim ${key}`;
  const claimedBy = entries.get(name);
  if (claimedBy !== undefined) return claimedBy === call;
  entries.assertLives(expiresAt);
  entries.put(name, call, expiresAt);
  return true;
}
