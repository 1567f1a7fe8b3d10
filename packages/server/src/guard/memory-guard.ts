import { assertClock } from '../host/assert-clock.ts';
import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from './guard.ts';

interface UsedTurn {
  readonly jti: string;
  readonly action: GuardClaim['action'];
  readonly digest: string;
  readonly expiresAt: number;
  respondsUntil: number;
  /** What the request brought, until the turn is finished. */
  request: string | undefined;
  number: number;
  /** Whether it was leased before: what was run then, nobody knows. */
  isAgain: boolean;
  leaseUntil: number;
  isDone: boolean;
  response: string | undefined;
}

/**
 * A guard in the memory of one process: for tests, stdio, and servers that are one process. It forgets what has
 * expired, a second later at the most, when it is asked.
 *
 * @param clock - milliseconds since the epoch; default `Date.now`
 */
export function memoryGuard(clock: () => number = Date.now): SagaGuard & { readonly size: number } {
  assertClock('memoryGuard', clock);
  const turns = new Map<string, UsedTurn>();
  const claims = new Map<string, number>();
  let swept = 0;
  let leases = 0;
  const sweep = (now: number): void => {
    // Once a second at the most: what has expired only takes room.
    if (now < swept + 1_000) return;
    swept = now;
    for (const [key, used] of turns) {
      if (used.respondsUntil <= now) used.response = undefined;
      if (used.expiresAt <= now) turns.delete(key);
    }
    for (const [key, expiresAt] of claims) if (expiresAt <= now) claims.delete(key);
  };
  const held = (fence: Fence): UsedTurn | undefined => {
    sweep(clock());
    const used = turns.get(at(fence));
    return used?.number === fence.number && !used.isDone ? used : undefined;
  };
  const release = (used: UsedTurn | undefined): void => {
    if (used !== undefined) used.leaseUntil = Number.NEGATIVE_INFINITY;
  };
  return {
    get size() {
      return turns.size + claims.size;
    },
    begin: (claim): GuardVerdict => {
      const now = clock();
      sweep(now);
      const used = turns.get(at(claim));
      if (used === undefined) {
        const { sagaId, turn, jti, action, digest, request, expiresAt, leaseMs } = claim;
        leases += 1;
        turns.set(at(claim), {
          jti,
          action,
          digest,
          expiresAt,
          respondsUntil: claim.respondsUntil ?? expiresAt,
          request,
          number: leases,
          isAgain: false,
          leaseUntil: now + leaseMs,
          isDone: false,
          response: undefined,
        });
        return { run: { sagaId, turn, number: leases } };
      }
      const isSame = used.digest === claim.digest;
      const isRequest = used.action === claim.action && (isSame || claim.follows === true);
      const ends = claim.ends === true && used.action === 'resume';
      // Nobody knows what was begun there: it has to be ended before it is undone, or gone on with.
      const begun = used.request;
      const mayEnd = ends && (begun !== undefined || used.isDone);
      if (used.jti !== claim.jti || !(isRequest || mayEnd)) return 'conflict';
      if (used.isDone) {
        if (used.response === undefined) return 'conflict';
        const wentOn = turns.has(at({ ...claim, turn: claim.turn + 1 }));
        return { response: used.response, wentOn, ...(isRequest ? {} : { other: true }) };
      }
      if (now < used.leaseUntil) return 'busy';
      if (!isSame && begun === undefined) return 'conflict';
      leases += 1;
      used.number = leases;
      used.isAgain = true;
      used.leaseUntil = now + claim.leaseMs;
      used.respondsUntil = Math.max(used.respondsUntil, claim.respondsUntil ?? claim.expiresAt);
      const run = { sagaId: claim.sagaId, turn: claim.turn, number: used.number };
      return begun === undefined ? { run } : { run, begun };
    },
    finish: (fence, sealedResponse) => {
      const used = held(fence);
      if (used === undefined) return false;
      used.isDone = true;
      used.request = undefined;
      // One that comes when nobody may be answered with it any more is not kept.
      if (used.respondsUntil > clock()) used.response = sealedResponse;
      return true;
    },
    release: (fence) => {
      release(held(fence));
    },
    forget: (fence) => {
      const used = held(fence);
      if (used?.isAgain === false) turns.delete(at(fence));
      else release(used);
    },
    claim: (key, expiresAt) => {
      sweep(clock());
      if (claims.has(key)) return false;
      claims.set(key, expiresAt);
      return true;
    },
  };
}

function at({ sagaId, turn }: Pick<Fence, 'sagaId' | 'turn'>): string {
  return `${sagaId}:${turn}`;
}
