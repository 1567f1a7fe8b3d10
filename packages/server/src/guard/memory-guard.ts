import { assertClock } from '../settings/clock.ts';
import { assertOneOf } from '../settings/check-options.ts';
import { assertKnown, type NamesOf } from '../settings/known-options.ts';
import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from '../model/guard.ts';

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
  /** Principal for whom it is kept. */
  readonly owner: string | undefined;
}

/** Options of {@link memoryGuard}. */
export interface MemoryGuardOptions {
  /**
   * `refuse`: tokens of an earlier process are refused, as the guard does not know which were used. `accept`: each of them can be
   * used again once. Default `refuse`.
   */
  readonly olderTokens?: 'refuse' | 'accept';
  /** Returns the time, in milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

const optionNames: NamesOf<MemoryGuardOptions> = { olderTokens: true, clock: true };

/**
 * Creates a guard in the memory of one process: for tests, stdio, and servers that are one process. Expired entries are removed at
 * most a second later, when the guard is asked. A restart of the process forgets all entries.
 *
 * @throws TypeError for an unknown option, or one of the wrong type
 *
 * @example
 * ```ts
 * const host = createSagaHost({ sagas: [deploy], audience: 'deployer', guard: { store: memoryGuard() } });
 * ```
 */
export function memoryGuard(options: MemoryGuardOptions = {}): SagaGuard & { readonly size: number } {
  assertKnown('memoryGuard', options, optionNames);
  const { clock = Date.now, olderTokens = 'refuse' } = options;
  assertClock('memoryGuard.clock', clock);
  assertOneOf('memoryGuard.olderTokens', olderTokens, ['refuse', 'accept']);
  let startedAt: number | undefined;
  const turns = new Map<string, UsedTurn>();
  const claims = new Map<string, number>();
  /** Bytes that are kept for each principal. */
  const owned = new Map<string, number>();
  /** Changes the request and the response that are kept of a turn. */
  const keep = (used: UsedTurn, request: string | undefined, response: string | undefined): void => {
    const { owner } = used;
    if (owner !== undefined) {
      const bytes =
        (owned.get(owner) ?? 0) + bytesOf(request, response) - bytesOf(used.request, used.response);
      if (bytes === 0) owned.delete(owner);
      else owned.set(owner, bytes);
    }
    used.request = request;
    used.response = response;
  };
  const remove = (key: string, used: UsedTurn): void => {
    keep(used, undefined, undefined);
    turns.delete(key);
  };
  let swept = 0;
  let leases = 0;
  const sweep = (now: number): void => {
    // Once a second at the most: what has expired only takes room.
    if (now < swept + 1_000) return;
    swept = now;
    for (const [key, used] of turns) {
      if (used.respondsUntil <= now) keep(used, used.request, undefined);
      if (used.expiresAt <= now) remove(key, used);
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
        const { sagaId, turn, jti, action, digest, owner, request, expiresAt, leaseMs } = claim;
        if (owner !== undefined && (owned.get(owner.id) ?? 0) >= owner.maxBytes) return 'full';
        leases += 1;
        const made: UsedTurn = {
          jti,
          action,
          digest,
          expiresAt,
          respondsUntil: claim.respondsUntil ?? expiresAt,
          request: undefined,
          number: leases,
          isAgain: false,
          leaseUntil: now + leaseMs,
          isDone: false,
          response: undefined,
          owner: owner?.id,
        };
        keep(made, request, undefined);
        turns.set(at(claim), made);
        return { run: { sagaId, turn, number: leases } };
      }
      const isSame = used.digest === claim.digest;
      const isRequest = used.action === claim.action && (isSame || claim.follows === true);
      const ends = claim.ends === true && used.action === 'resume';
      // Nobody knows what was begun there: it has to be ended before it is undone, or gone on with.
      const begun = used.request;
      const mayEnd = ends && (begun !== undefined || used.isDone);
      const isAwaited =
        claim.awaits === true &&
        !isRequest &&
        used.action === claim.action &&
        !used.isDone &&
        begun !== undefined;
      if (used.jti !== claim.jti || !(isRequest || mayEnd || isAwaited)) return 'conflict';
      if (used.isDone) {
        if (used.response === undefined) return 'conflict';
        const wentOn = turns.has(at({ ...claim, turn: claim.turn + 1 }));
        return { response: used.response, wentOn, ...(isRequest ? {} : { other: true }) };
      }
      if (now < used.leaseUntil) return 'busy';
      if (!isSame && begun === undefined) return 'conflict';
      leases += 1;
      used.number = leases;
      // An awaited request is run to its end: what it did is known then.
      used.isAgain ||= !isAwaited;
      used.leaseUntil = now + claim.leaseMs;
      used.respondsUntil = Math.max(used.respondsUntil, claim.respondsUntil ?? claim.expiresAt);
      const run = { sagaId: claim.sagaId, turn: claim.turn, number: used.number };
      return begun === undefined ? { run } : { run, begun, ...(isAwaited ? { other: true } : {}) };
    },
    finish: (fence, sealedResponse) => {
      const used = held(fence);
      if (used === undefined) return false;
      used.isDone = true;
      // A response that comes after its time is not kept.
      keep(used, undefined, used.respondsUntil > clock() ? sealedResponse : undefined);
      return true;
    },
    release: (fence) => {
      release(held(fence));
    },
    forget: (fence) => {
      const used = held(fence);
      if (used?.isAgain === false) remove(at(fence), used);
      else release(used);
      return used !== undefined;
    },
    claim: (key, expiresAt) => {
      sweep(clock());
      if (claims.has(key)) return false;
      claims.set(key, expiresAt);
      return true;
    },
    ...(olderTokens === 'refuse' ? { remembersSince: (now) => (startedAt ??= now) } : {}),
  };
}

function bytesOf(request = '', response = ''): number {
  return request.length + response.length;
}

function at({ sagaId, turn }: Pick<Fence, 'sagaId' | 'turn'>): string {
  return `${sagaId}:${turn}`;
}
