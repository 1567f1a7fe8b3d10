/**
 * The guard of a host, on any store of entries. Each turn of a saga is an entry: its head says which
 * request used the token, its body holds the sealed request while the turn runs, and the sealed
 * response after it.
 *
 * A turn takes two writes: `begin` adds the entry, and `finish` replaces it. `decide` says what a
 * claim may do if the entry exists already; a claim that runs replaces it, unless another claim was
 * faster, which is then decided about again. The version of the entry is the fence: a request whose
 * turn was taken over writes nothing.
 */
import type {
  Entry,
  EntryKey,
  EntryStore,
  EntryValue,
  WriteOptions,
} from '../model/entry-store.ts';
import type { Fence, GuardClaim, GuardOwner, GuardVerdict, SagaGuard } from '../model/guard.ts';
import { decide, letGo, type StoredToken, type UsedToken } from './decide.ts';

/** Right to a turn, with the facts that its end needs. */
interface StoredFence extends Fence {
  readonly used: UsedToken;
  readonly request: string | undefined;
  readonly owner: GuardOwner | undefined;
}

/** Creates the guard of a host on a store. */
export function storeGuard(store: EntryStore): SagaGuard {
  /** Replaces the entry of a lease. `false` if the lease was taken over. */
  const replace = async (
    { sagaId, turn, number, owner }: StoredFence,
    used: UsedToken,
    body: string | undefined,
  ): Promise<boolean> => {
    const { status } = await store.write(turnKey(sagaId, turn), valueOf(used, body), number, {
      ...lifeOf(used),
      charge: chargeOf(owner),
    });
    return status === 'written';
  };
  const end = async (fence: Fence, ranNothing: boolean): Promise<boolean> => {
    const held = fence as StoredFence;
    const left = letGo(held.used, ranNothing);
    if (left !== undefined) return await replace(held, left, held.request);
    return await store.remove(turnKey(held.sagaId, held.turn), held.number);
  };
  return {
    begin: async (claim) => await begin(store, claim),
    finish: async (fence, response) => {
      const held = fence as StoredFence;
      return await replace(held, { ...held.used, status: 'finished' }, response);
    },
    release: async (fence) => void (await end(fence, false)),
    forget: (fence) => end(fence, true),
    claim: async (key, expiresAtMs, nowMs) => {
      const value = { head: callId() };
      const written = await store.write({ group: key, name: 'once' }, value, 0, {
        expiresAtMs,
        nowMs,
      });
      return written.status === 'written';
    },
    ...(store.remembersSince === undefined
      ? {}
      : { remembersSince: (nowMs) => store.remembersSince?.(nowMs) ?? 0 }),
  };
}

async function begin(store: EntryStore, claim: GuardClaim): Promise<GuardVerdict> {
  const { sagaId, turn, owner } = claim;
  const key = turnKey(sagaId, turn);
  let stored: Entry | undefined;
  let nowMs = 0;
  for (;;) {
    const decision = decide(stored && tokenOf(stored), claim, nowMs);
    if (decision.do === 'refuse') return decision.because;
    if (decision.do === 'respond') {
      const { response, isOther } = decision;
      const wentOn = (await store.read(turnKey(sagaId, turn + 1))) !== undefined;
      return { response, wentOn, ...(isOther ? { other: true } : {}) };
    }
    const { used, interrupted, isOther } = decision;
    const request = interrupted ?? claim.request;
    // An interrupted turn is already charged, and can always end.
    const limit = interrupted === undefined ? owner?.maxBytes : undefined;
    const written = await store.write(key, valueOf(used, request), stored?.version ?? 0, {
      ...lifeOf(used),
      // The entry of an earlier request may have expired a lease before: a turn may outlast its token.
      mayHaveExpiredAtMs: claim.expiresAt - claim.leaseMs,
      charge: chargeOf(owner, limit),
      nowMs: claim.now,
    });
    ({ nowMs } = written);
    if (written.status === 'full') return 'full';
    if (written.status === 'other') {
      stored = written.entry;
      continue;
    }
    const run: StoredFence = { sagaId, turn, number: written.version, used, request, owner };
    if (interrupted === undefined) return { run };
    return { run, interrupted, ...(isOther ? { other: true } : {}) };
  }
}

function turnKey(sagaId: string, turn: number): EntryKey {
  return { group: sagaId, name: `turn ${turn}` };
}

/** A random ID, so that no two calls write the same value. */
function callId(): string {
  return crypto.randomUUID();
}

function valueOf(used: UsedToken, body: string | undefined): EntryValue {
  return { head: JSON.stringify({ ...used, call: callId() }), body };
}

function tokenOf({ head, body, writtenAtMs }: Entry): StoredToken {
  return { used: JSON.parse(head) as UsedToken, body, writtenAtMs };
}

function lifeOf({ status, expiresAtMs, respondsUntilMs }: UsedToken): WriteOptions {
  return { expiresAtMs, bodyExpiresAtMs: status === 'finished' ? respondsUntilMs : expiresAtMs };
}

function chargeOf(owner: GuardOwner | undefined, limit?: number): WriteOptions['charge'] {
  return owner === undefined ? undefined : { to: owner.id, limit };
}
