import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from './guard.ts';

interface UsedTurn {
  readonly jti: string;
  readonly action: GuardClaim['action'];
  readonly digest: string;
  readonly expiresAt: number;
  number: number;
  leaseUntil: number;
  response: string | undefined;
}

/**
 * A guard in the memory of one process: for tests, stdio, and servers that are one process. It forgets what has
 * expired, a second later at the most, when it is asked.
 *
 * @param clock - milliseconds since the epoch; default `Date.now`
 */
export function memoryGuard(clock: () => number = Date.now): SagaGuard & { readonly size: number } {
  const turns = new Map<string, UsedTurn>();
  const claims = new Map<string, number>();
  let swept = 0;
  const forget = (now: number): void => {
    // Once a second at the most: what has expired only takes room.
    if (now < swept + 1_000) return;
    swept = now;
    for (const [key, { expiresAt }] of turns) if (expiresAt <= now) turns.delete(key);
    for (const [key, expiresAt] of claims) if (expiresAt <= now) claims.delete(key);
  };
  const held = (fence: Fence): UsedTurn | undefined => {
    const used = turns.get(at(fence));
    return used?.number === fence.number && used.response === undefined ? used : undefined;
  };
  return {
    get size() {
      return turns.size + claims.size;
    },
    begin: (claim): GuardVerdict => {
      const now = clock();
      forget(now);
      const used = turns.get(at(claim));
      if (used === undefined) {
        const { jti, action, digest, expiresAt, leaseMs } = claim;
        turns.set(at(claim), {
          jti,
          action,
          digest,
          expiresAt,
          number: 1,
          leaseUntil: now + leaseMs,
          response: undefined,
        });
        return { run: { sagaId: claim.sagaId, turn: claim.turn, number: 1 } };
      }
      const isSame = used.digest === claim.digest;
      if (used.jti !== claim.jti || used.action !== claim.action || !(isSame || claim.follows === true)) {
        return 'conflict';
      }
      if (used.response !== undefined) return { response: used.response };
      if (now < used.leaseUntil) return 'busy';
      if (!isSame) return 'conflict';
      used.number += 1;
      used.leaseUntil = now + claim.leaseMs;
      return { run: { sagaId: claim.sagaId, turn: claim.turn, number: used.number } };
    },
    finish: (fence, sealedResponse) => {
      const used = held(fence);
      if (used === undefined) return false;
      used.response = sealedResponse;
      return true;
    },
    release: (fence) => {
      const used = held(fence);
      if (used !== undefined) used.leaseUntil = Number.NEGATIVE_INFINITY;
    },
    forget: (fence) => {
      if (held(fence) !== undefined) turns.delete(at(fence));
    },
    claim: (key, expiresAt) => {
      forget(clock());
      if (claims.has(key)) return false;
      claims.set(key, expiresAt);
      return true;
    },
  };
}

function at({ sagaId, turn }: Pick<Fence, 'sagaId' | 'turn'>): string {
  return `${sagaId}:${turn}`;
}
