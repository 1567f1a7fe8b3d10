import { assertClock } from '../settings/clock.ts';
import { assertOneOf } from '../settings/check-options.ts';
import { assertKnown, type NamesOf } from '../settings/known-options.ts';
import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from '../model/guard.ts';
import { registerMemoryGuard } from '../token/guard-records.ts';
import type { Expiring, Lease, Owner, UsedTurn } from './used-turn.ts';

/** Options of {@link memoryGuard}. */
export interface MemoryGuardOptions {
  /**
   * `refuse`: tokens of an earlier process are refused, because the guard does not know the used
   * ones. `accept`: each older token can be used again once. @default 'refuse'
   */
  readonly olderTokens?: 'refuse' | 'accept';
  /**
   * Returns the time, in milliseconds since the epoch. Default: the clock of the host, or
   * `Date.now` for callers that pass no time.
   */
  readonly clock?: () => number;
}

const optionNames: NamesOf<MemoryGuardOptions> = { olderTokens: true, clock: true };

/**
 * Creates a guard in the memory of one process: for tests, stdio, and servers that are one process.
 * Each call removes up to 1,000 expired entries. A restart of the process forgets all entries.
 * @throws TypeError for an unknown option, or one of the wrong type
 * @example
 * ```ts
 * const greet = saga({ name: 'greet', version: '1', forks: 'refuse' }, function* () {
 *   return 'Hello';
 * });
 * createSagaHost({ sagas: [greet], keys, audience: 'greeter', guard: { store: memoryGuard() } });
 * ```
 */
export function memoryGuard(
  options: MemoryGuardOptions = {},
): SagaGuard & { readonly size: number } {
  assertKnown('memoryGuard', options, optionNames);
  const { clock, olderTokens = 'refuse' } = options;
  if (clock !== undefined) assertClock('memoryGuard.clock', clock);
  assertOneOf('memoryGuard.olderTokens', olderTokens, ['refuse', 'accept']);
  let startedAt: number | undefined;
  /** Latest time that a host passed. */
  let hostTime: number | undefined;
  const timeOf = (now: number | undefined): number =>
    clock?.() ?? (hostTime = now ?? hostTime) ?? Date.now();
  const turns = new Map<string, UsedTurn>();
  const claims = new Map<string, Expiring>();
  const owners = new Map<string, Owner>();
  const expiring = new ExpiryQueue<UsedTurn | Expiring>();
  let leases = 0;
  const forget = (used: UsedTurn): void => {
    const { key, owner } = used;
    keep(used, undefined, undefined);
    turns.delete(key);
    if (owner !== undefined && (owner.turns -= 1) === 0) owners.delete(owner.id);
  };
  /** Latest time at which an entry was removed. */
  let forgottenUntil = Number.NEGATIVE_INFINITY;
  /**
   * Throws for an entry that may have been removed at a later time: a used token would be accepted
   * again.
   */
  const assertNotForgotten = (expiresAt: number, now: number): void => {
    if (now < forgottenUntil && expiresAt <= forgottenUntil) throw new Error(ahead);
  };
  const expire = (now: number): void => {
    for (let count = 0; count < maxExpiredPerCall; count += 1) {
      const entry = expiring.takeDue(now);
      if (entry === undefined) return;
      if (!('jti' in entry) || entry.expiresAt <= now) {
        forgottenUntil = Math.max(forgottenUntil, now);
        if ('jti' in entry) forget(entry);
        else claims.delete(entry.key);
      } else {
        if (entry.respondsUntil <= now) {
          keep(entry, entry.lease, undefined);
          if (entry.lease === undefined) entry.jti = entry.digest = '';
        }
        entry.dueAt =
          entry.respondsUntil <= now
            ? entry.expiresAt
            : Math.min(entry.respondsUntil, entry.expiresAt);
        expiring.add(entry);
      }
    }
  };
  /** Turn at a key, unless it has expired and waits to be removed. */
  const liveAt = (key: string, now: number): UsedTurn | undefined => {
    const used = turns.get(key);
    return used !== undefined && used.expiresAt > now ? used : undefined;
  };
  const leasedBy = (fence: Fence): UsedTurn | undefined => {
    const now = timeOf(undefined);
    expire(now);
    const used = liveAt(at(fence), now);
    return used?.lease?.number === fence.number ? used : undefined;
  };
  const remove = (used: UsedTurn): void => {
    expiring.remove(used);
    forget(used);
  };
  const begin = (claim: GuardClaim): GuardVerdict => {
    const now = timeOf(claim.now);
    expire(now);
    const { sagaId, turn, jti, action, digest, owner, request, expiresAt } = claim;
    const key = at(claim);
    const respondsUntil = claim.respondsUntil ?? expiresAt;
    const used = liveAt(key, now);
    if (used === undefined) {
      // A later request of the same token may claim the turn until a lease later.
      assertNotForgotten(expiresAt - claim.leaseMs, now);
      if (owner !== undefined && (owners.get(owner.id)?.bytes ?? 0) >= owner.maxBytes)
        return 'full';
      const expired = turns.get(key);
      if (expired !== undefined) remove(expired);
      leases += 1;
      const counted = owner && (owners.get(owner.id) ?? { id: owner.id, bytes: 0, turns: 0 });
      if (counted !== undefined) {
        counted.turns += 1;
        owners.set(counted.id, counted);
      }
      const made: UsedTurn = {
        key,
        jti,
        action,
        digest,
        expiresAt,
        respondsUntil,
        dueAt: Math.min(expiresAt, respondsUntil),
        index: 0,
        lease: undefined,
        response: undefined,
        owner: counted,
      };
      keep(
        made,
        { number: leases, until: now + claim.leaseMs, isAgain: false, request },
        undefined,
      );
      turns.set(key, made);
      expiring.add(made);
      return { run: { sagaId, turn, number: leases } };
    }
    const { lease } = used;
    const isSame = used.digest === digest;
    const isRequest = used.action === action && (isSame || claim.follows === true);
    const ends = claim.ends === true && used.action === 'resume';
    // The effects of an interrupted turn are unknown: the turn has to end before it is undone or
    // continued.
    const interrupted = lease?.request;
    const mayEnd = ends && (interrupted !== undefined || lease === undefined);
    const isAwaited =
      claim.awaits === true &&
      !isRequest &&
      used.action === action &&
      lease !== undefined &&
      interrupted !== undefined;
    if (used.jti !== jti || !(isRequest || mayEnd || isAwaited)) return 'conflict';
    if (lease === undefined) {
      if (used.response === undefined || used.respondsUntil <= now) return 'conflict';
      const wentOn = liveAt(at({ sagaId, turn: turn + 1 }), now) !== undefined;
      return { response: used.response, wentOn, ...(isRequest ? {} : { other: true }) };
    }
    if (now < lease.until) return 'busy';
    if (!isSame && interrupted === undefined) return 'conflict';
    leases += 1;
    // An awaited request runs to its end: its effects are known.
    const isAgain = lease.isAgain || !isAwaited;
    keep(
      used,
      { number: leases, until: now + claim.leaseMs, isAgain, request: interrupted },
      undefined,
    );
    used.respondsUntil = Math.max(used.respondsUntil, respondsUntil);
    const run = { sagaId, turn, number: leases };
    return interrupted === undefined
      ? { run }
      : { run, interrupted, ...(isAwaited ? { other: true } : {}) };
  };
  const guard: SagaGuard & { readonly size: number } = {
    get size() {
      return turns.size + claims.size;
    },
    begin,
    finish: (fence, response) => {
      const used = leasedBy(fence);
      if (used === undefined) return false;
      // A late response is not kept.
      keep(used, undefined, used.respondsUntil > timeOf(undefined) ? response : undefined);
      return true;
    },
    release: (fence) => {
      release(leasedBy(fence));
    },
    forget: (fence) => {
      const used = leasedBy(fence);
      if (used?.lease?.isAgain === false) remove(used);
      else release(used);
      return used !== undefined;
    },
    claim: (key, expiresAt, hostNow) => {
      const now = timeOf(hostNow);
      expire(now);
      const claimed = claims.get(key);
      if (claimed !== undefined && claimed.dueAt > now) return false;
      assertNotForgotten(expiresAt, now);
      if (claimed !== undefined) expiring.remove(claimed);
      const made = { key, dueAt: expiresAt, index: 0 };
      claims.set(key, made);
      expiring.add(made);
      return true;
    },
    ...(olderTokens === 'refuse' ? { remembersSince: (now) => (startedAt ??= now) } : {}),
  };
  registerMemoryGuard(guard);
  return guard;
}

const ahead =
  'The guard may have forgotten this entry, because an earlier call had a later time: a clock was ahead. Synchronize the clocks ' +
  'of the hosts.';

/** Maximum number of expired entries that a call removes, to bound the time of the call. */
const maxExpiredPerCall = 1_000;

/** Replaces the request and the response that are kept of a turn. */
function keep(used: UsedTurn, lease: Lease | undefined, response: string | undefined): void {
  if (used.owner !== undefined)
    used.owner.bytes += bytesOf(lease, response) - bytesOf(used.lease, used.response);
  used.lease = lease;
  used.response = response;
}

function release(used: UsedTurn | undefined): void {
  if (used?.lease !== undefined)
    keep(used, { ...used.lease, until: Number.NEGATIVE_INFINITY }, undefined);
}

function bytesOf(lease: Pick<Lease, 'request'> = { request: '' }, response: string = ''): number {
  return (lease.request ?? '').length + response.length;
}

function at({ sagaId, turn }: Pick<Fence, 'sagaId' | 'turn'>): string {
  return `${sagaId}:${turn}`;
}

/**
 * Entries by due time, as a binary heap: each operation visits at most the logarithm of all
 * entries.
 */
export class ExpiryQueue<T extends Expiring> {
  readonly #heap: T[] = [];

  /** Adds an entry. */
  add(entry: T): void {
    this.#place(entry, this.#heap.length);
  }

  /** Removes and returns the first due entry. Undefined if no entry is due by `now`. */
  takeDue(now: number): T | undefined {
    const [first] = this.#heap;
    if (first === undefined || first.dueAt > now) return undefined;
    this.remove(first);
    return first;
  }

  /** Removes an entry of the queue. */
  remove({ index }: T): void {
    const last = this.#heap.pop();
    if (last !== undefined && index < this.#heap.length) this.#place(last, index);
  }

  /** Moves an entry from a free place up or down to its place. */
  #place(entry: T, free: number): void {
    const heap = this.#heap;
    let hole = free;
    const move = (from: number, other: T): void => {
      heap[hole] = other;
      other.index = hole;
      hole = from;
    };
    for (;;) {
      const parent = (hole - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.dueAt <= entry.dueAt) break;
      move(parent, above);
    }
    for (;;) {
      const left = 2 * hole + 1;
      const isRight = (heap[left + 1]?.dueAt ?? Infinity) < (heap[left]?.dueAt ?? Infinity);
      const child = isRight ? left + 1 : left;
      const below = heap[child];
      if (below === undefined || below.dueAt >= entry.dueAt) break;
      move(child, below);
    }
    heap[hole] = entry;
    entry.index = hole;
  }
}
