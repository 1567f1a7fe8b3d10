/**
 * The guard of a host, on any store. Each turn of a saga is an entry: its head says which
 * request used the token, its body holds the sealed request while the turn runs, and the sealed
 * response after it.
 *
 * A turn takes two writes: `begin` adds the entry, and `finish` replaces it. `decide` says what a
 * claim may do if the entry exists already; a claim that runs replaces it, unless another claim was
 * faster, which is then decided about again. While a long step runs, `renew` replaces the entry by
 * one that only differs in a random ID, and whose lease counts from then.
 *
 * Only the last two responses of a saga are kept. `finish` forgets the response of two turns before:
 * who began this turn had the token in the response between. A request that repeats an older turn
 * gets the newest response. A saga with pages keeps all of its responses.
 *
 * A lease belongs to a call, whose random ID is in the head. Whoever holds it replaces the version
 * that it knows, or a later one of its own: a request whose turn was taken over writes nothing.
 */
import type {
  Charge,
  Entry,
  EntryKey,
  EntryValue,
  SagaStore,
  WriteOptions,
} from '../model/saga-store.ts';
import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from '../model/guard.ts';
import {
  decide,
  type Decision,
  finished,
  letGo,
  relate,
  type StoredToken,
  type UnfinishedToken,
  type UsedToken,
} from './decide.ts';

/** Right to a turn, with the facts that its end needs. */
interface StoredFence extends Fence {
  /** Random ID of the call that leased the turn: two calls never write the same value. */
  readonly call: string;
  readonly used: UnfinishedToken;
  readonly request: string | undefined;
  readonly charge: Charge | undefined;
  readonly keepsResponses?: true | undefined;
}

/** Creates the guard of a host. The rules of a guard are here; the store only keeps entries. */
export function storeGuard(store: SagaStore): SagaGuard {
  /**
   * Replaces the entry of a lease, and returns its version. Undefined if the lease was taken over,
   * or is over.
   */
  const replace = async (
    { number, call, used, charge, ...held }: StoredFence,
    value: EntryValue,
    change: Partial<WriteOptions> = {},
  ): Promise<number | undefined> => {
    const bounds = { expiresAtMs: used.expiresAtMs, charge, ...change };
    let version = number;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const written = await store.write(keyOf(held, used), value, version, bounds);
      if (written.status === 'written') return written.version;
      assertKnown(written);
      const stored = written.status === 'other' ? written.entry : undefined;
      if (stored === undefined || !isLeaseOf(call, stored)) return undefined;
      version = stored.version;
    }
    return undefined;
  };
  const renew = async (held: StoredFence, nowMs?: number): Promise<number | undefined> =>
    await replace(held, valueOf(held.used, held.request, held.call, randomId()), { nowMs });
  const end = async (fence: Fence, ranNothing: boolean): Promise<boolean> => {
    const held = fence as StoredFence;
    const left = letGo(held.used, ranNothing);
    if (left !== undefined) {
      const value = valueOf(left, held.request, held.call);
      return (await replace(held, value)) !== undefined;
    }
    const key = keyOf(held, held.used);
    if (await store.remove(key, held.number)) return true;
    // An earlier renewal has a later version, which only a write knows: a read may be late.
    const version = await renew(held);
    return version !== undefined && (await store.remove(key, version));
  };
  return {
    begin: async (claim) => await begin(store, claim),
    finish: async (fence, response, { respondsUntil = 0, undecided } = {}) => {
      const held = fence as StoredFence;
      // The response needs no ID: it is sealed, so no two calls write the same text.
      const value = { head: headOf(finished(held.used, undecided), held), body: response };
      const forgotten = turnKey(held.sagaId, held.turn - 2).name;
      const outdated = held.keepsResponses === true ? undefined : forgotten;
      const until = Math.max(held.used.respondsUntilMs, respondsUntil);
      const bodyExpiresAtMs = Math.min(until, held.used.expiresAtMs);
      const bounds = { bodyExpiresAtMs, outdated };
      return (await replace(held, value, bounds)) !== undefined;
    },
    renew: async (fence, nowMs) => (await renew(fence as StoredFence, nowMs)) !== undefined,
    release: async (fence) => void (await end(fence, false)),
    forget: (fence) => end(fence, true),
    claim: async (key, expiresAtMs, nowMs) => {
      const value = { head: randomId() };
      const written = await store.write(claimKey(key), value, 0, {
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

const replaced = new WeakMap<SagaStore, SagaGuard>();

/** Returns the guard of a host on a store. */
export function guardOn(store: SagaStore): SagaGuard {
  return replaced.get(store) ?? storeGuard(store);
}

/**
 * Lets hosts on a store use another guard. For tests of this repository: their guards fail, wait,
 * or lose replies at chosen moments of a turn.
 */
export function replaceGuard(store: SagaStore, guard: SagaGuard): void {
  replaced.set(store, guard);
}

/** A version that no entry has: a write for it only tells what is stored, and when. */
const neverStored = Number.MAX_SAFE_INTEGER;

/** Each attempt but the last lost a race with another request for the turn. */
const maxAttempts = 5;

async function begin(store: SagaStore, claim: GuardClaim): Promise<GuardVerdict> {
  const { turn, charge } = claim;
  const key = keyOf(claim, claim);
  const call = randomId();
  // The message of a start that was given back, or is forgotten, begins no saga.
  const mustExist = turn === 0 && claim.ends === true;
  let stored: Entry | undefined;
  let nowMs = 0;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const decision = decide(stored && tokenOf(stored, claim), claim, nowMs);
    if (decision.do === 'refuse') return decision.because;
    // A repeated start has an ID of its own, which nothing knows.
    const known = stored && tokenOf(stored, claim).used.sagaId;
    const sagaId = known ?? claim.sagaId;
    if (decision.do === 'respond') {
      const verdict = await respond(store, { ...claim, sagaId }, decision);
      return known === undefined || typeof verdict === 'string'
        ? verdict
        : { ...verdict, sagaId: known };
    }
    const { used, interrupted, isOther } = decision;
    const request = interrupted ?? claim.request;
    const expected = stored?.version ?? (mustExist ? neverStored : 0);
    const written = await store.write(key, valueOf(used, request, call), expected, {
      expiresAtMs: used.expiresAtMs,
      // The entry of an earlier request may have expired a lease before: a turn may outlast its token.
      mayHaveExpiredAtMs: claim.expiresAt - claim.leaseMs,
      charge,
      nowMs: claim.now,
    });
    ({ nowMs } = written);
    if (written.status === 'full') return 'full';
    if (written.status !== 'written') {
      assertKnown(written);
      stored = written.entry;
      if (stored === undefined && mustExist) return 'conflict';
      continue;
    }
    const { keepsResponses } = claim;
    const right = { number: written.version, call, used, request, charge, keepsResponses };
    const run: StoredFence = { sagaId, turn, ...right };
    if (interrupted === undefined) return { run };
    return {
      run,
      interrupted,
      ...(isOther ? { other: true } : {}),
      ...(known === undefined ? {} : { sagaId: known }),
    };
  }
  return 'busy';
}

/** Returns the response of a finished turn; if it was forgotten, that of the newest turn. */
async function respond(
  store: SagaStore,
  claim: GuardClaim,
  { response, isOther }: Extract<Decision, { readonly do: 'respond' }>,
): Promise<GuardVerdict> {
  const { sagaId, turn } = claim;
  const other = isOther ? ({ other: true } as const) : {};
  const turnAt = async (at: number): Promise<StoredToken | undefined> => {
    const entry = await store.read(turnKey(sagaId, at));
    return entry && tokenOf(entry, claim);
  };
  let next = await turnAt(turn + 1);
  if (response !== undefined) return { response, wentOn: next !== undefined, ...other };
  let newest: { readonly response: string; readonly turn: number } | undefined;
  let isKnown = false;
  let isRunning = false;
  let at = turn;
  for (let body: string | undefined; ; next = await turnAt(at + 1)) {
    let steps = 1;
    isRunning = next !== undefined;
    if (next?.used.status !== 'finished' && body === undefined) {
      // A response is forgotten at the end of the second turn behind it. A guard that was down may
      // know nothing of the first.
      steps = 2;
      next = await turnAt(at + 2);
    }
    if (next?.used.status !== 'finished') break;
    at += steps;
    ({ body } = next);
    const relation = relate(next.used, claim);
    if (relation === 'conflict') return 'conflict';
    isKnown ||= relation === 'same';
    if (body !== undefined) newest = { response: body, turn: at };
  }
  if (newest !== undefined) {
    const wentOn = isRunning || newest.turn !== at;
    return { ...newest, wentOn, ...other, ...(isKnown ? { isKnown } : {}) };
  }
  // A turn that runs will have a response. Without one, all have expired.
  return isRunning ? 'busy' : 'conflict';
}

/** Throws for the reply of a store that uses other words: its turns would run without a lease. */
function assertKnown({ status }: { readonly status: unknown }): void {
  if (status === 'other' || status === 'full') return;
  throw new TypeError(
    'store.write() returned an unknown status. Test the store with storeConformance of @mcp-saga/testing/stores.',
  );
}

function turnKey(sagaId: string, turn: number): EntryKey {
  return { group: sagaId, name: `turn:${turn}` };
}

/**
 * Place of a claim. A start is looked up by its name: a request that repeats it does not know the ID
 * of the saga.
 */
function keyOf(
  { sagaId, turn }: Pick<GuardClaim, 'sagaId' | 'turn'>,
  { jti }: Pick<GuardClaim, 'jti'>,
): EntryKey {
  return turnKey(turn === 0 ? jti : sagaId, turn);
}

/** Place of a claim, whose key is `<saga ID>:<name>`: beside the turns of the saga. */
function claimKey(key: string): EntryKey {
  const [sagaId = '', ...name] = key.split(':');
  return { group: sagaId, name: `once:${name.join(':')}` };
}

/** @param renewal - random ID of a renewal, since no value is written twice */
function valueOf(
  used: UnfinishedToken,
  body: string | undefined,
  call: string,
  renewal?: string,
): EntryValue {
  return { head: JSON.stringify({ ...used, call, renewal }), body };
}

/** `true` if the lease of a call is stored, perhaps renewed. */
function isLeaseOf(call: string, { head }: Entry): boolean {
  const used = JSON.parse(head) as UsedToken & { readonly call?: string };
  return used.status === 'leased' && used.call === call;
}

/** Encodes the facts about a turn. A start is stored under the ID of its token. */
function headOf(used: UsedToken, { turn }: Pick<GuardClaim, 'turn'>): string {
  return JSON.stringify(turn === 0 ? { ...used, jti: undefined } : used);
}

/** Decodes an entry that was found for a claim. */
function tokenOf(
  { head, body, writtenAtMs }: Entry,
  { jti }: Pick<GuardClaim, 'jti'>,
): StoredToken {
  // Only the entry of a start has no ID, and is found by it.
  const used = { jti, ...(JSON.parse(head) as object) } as UsedToken;
  return { used, body, writtenAtMs };
}

/**
 * Returns a random ID that makes the value of a call differ from that of any other call, since a
 * store takes an equal value for a repetition. It is short because it is stored.
 */
export function randomId(): string {
  return crypto.randomUUID().slice(0, 18);
}
