/**
 * The loop of a saga: from the turn that a request wants to the newest one that it can reach.
 *
 * 1. `takeTurn` claims the turn, and runs it or gets its kept response.
 * 2. If another request has used the token, this one follows the saga: it takes the turn without
 *    its answers, which succeeds only if nobody has decided anything there.
 * 3. `nextOf` decides whether the request goes on, and with what. Answers, messages of a queue, and
 *    cancellations differ only in this.
 *
 * - If only time has moved a saga on, its token was used without answers: by the queue, by a poll
 *   whose response was lost, or by a late copy of a poll. The client has decided nothing with it,
 *   so its request goes on from the newest turn: with its answers to questions that are still open
 *   there, or with the response of that turn.
 * - A client that has decided something with a token cannot decide otherwise with it.
 * - Each turn on the way has a claim of its own at the guard. Only the request that used a token
 *   gets its response.
 */
import { clientRounds } from '../model/host-limits.ts';
import { decodeHead } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import { decisionsOf } from '../guard/ask-guard.ts';
import type { Caller } from '../model/caller.ts';
import { holderAfterCommit, resumableOf, type ResumableRequest } from '../model/holder.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { isPastPivot } from '../token/resolve-program.ts';
import { bindToRequest, changedTurn, sagaOf, turnFor } from '../token/saga-of-turn.ts';
import { messageExpiry, roundsOf } from '../token/sealed-saga.ts';
import { dueOf } from '../turn/settle.ts';
import type { GuardedTurn } from '../turn/turn-lease.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import {
  goOn,
  requestAt,
  type AnswerIntent,
  type EndIntent,
  type RequestedTurn,
} from './requested-turn.ts';
import { runsForward, takeTurn } from './take-turn.ts';

/** The newest turn that a request has reached. */
export interface DrivenTurn extends GuardedTurn {
  /** `true` if another request has used the token of this turn, and this one cannot follow it. */
  readonly isUsed?: true;
}

/**
 * Takes the turn of a request, and the turns behind it, until the client is needed, the saga waits,
 * or it has ended.
 * @throws TokenRefused `used` if the client has used the token with other answers
 * @throws NotEnded if an abandoned saga waits past its pivot
 */
export async function drive(
  host: HostParts,
  first: RequestedTurn,
  caller: Caller,
): Promise<DrivenTurn> {
  /** IDs of answers that were not used, on the wire. */
  const unknown: string[] = [];
  let current = first;
  let newest: GuardedTurn | undefined;
  for (;;) {
    let taken: GuardedTurn;
    let isFollowed = false;
    try {
      taken = await takeTurn(host, current, caller);
    } catch (error) {
      if (!isUsed(error)) throw error;
      const followed = await followerOf(host, current);
      if (followed === undefined) {
        if (current.intent.kind === 'end' || newest === undefined) throw error;
        taken = await toClient(host, current, newest);
        return { ...(await withUnknown(host, taken, unknown)), isUsed: true };
      }
      // This throws if the client has decided something else.
      taken = await takeTurn(host, followed, caller);
      // An answer itself may have been used on the way, in a turn whose response is gone.
      isFollowed = current.intent.kind === 'end' || taken.isKnown !== true;
      if (!isFollowed) current = followed;
    }
    const { turn } = taken;
    let next =
      turn.status === 'suspended'
        ? await nextOf(host, current, taken, turn, isFollowed)
        : undefined;
    if (isFollowed) unknown.push(...reportUnused(host, current, next));
    if (isFollowed && endsThere(taken, next)) next = undefined;
    newest = taken;
    if (next === undefined) {
      taken = await toClient(host, current, taken);
      next = await nextInRequest(host, current, taken);
      if (next === undefined) return await withUnknown(host, taken, unknown);
      newest = undefined;
    }
    // The next turn knows nothing of the answers to this one.
    const isOwn = !isFollowed && current.intent.kind === 'answer';
    if (isOwn && (taken.isCommitted || newest === undefined)) unknown.push(...(turn.unknown ?? []));
    current = next;
  }
}

/** An abandoned saga past its pivot needs more time than one delivery has. */
export class NotEnded extends Error {
  /** Time after which the queue delivers the message again, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super();
    this.retryAfterMs = retryAfterMs;
  }
}

/** `true` for the error of a token that was used by another request. */
export function isUsed(error: unknown): boolean {
  return error instanceof TokenRefused && error.reason === 'used';
}

/**
 * Returns a request that follows the saga from a used token. Undefined if the request may not, or
 * wants nothing else.
 */
async function followerOf(
  host: HostParts,
  current: RequestedTurn,
): Promise<RequestedTurn | undefined> {
  const { intent, opened } = current;
  const followed = { ...current, intent: goOn };
  if (intent.kind === 'answer') {
    if (intent.news.size === 0) return undefined;
    return { ...followed, decided: await decisionsOf(opened.saga, intent.news) };
  }
  if (intent.by === 'client') return { ...followed, at: host.timing.clock(), decided: 'cancel' };
  if (!runsForward(current, intent)) return undefined;
  // An earlier cancellation may have been interrupted. A partly undone saga must not continue.
  const cancelling = { ...intent, by: 'client', goesForward: false } as const;
  return { ...current, intent: cancelling, holder: { kind: 'client' } };
}

/** Returns what the request wants of the next turn. Undefined: this turn is its result. */
async function nextOf(
  host: HostParts,
  current: RequestedTurn,
  taken: GuardedTurn,
  turn: SuspendedTurn,
  isFollowed: boolean,
): Promise<RequestedTurn | undefined> {
  const { intent, holder } = current;
  if (intent.kind === 'end') {
    // A client that follows its saga looks at a turn, and ends nothing there.
    const hasRun = taken.wentOn === undefined && !(isFollowed && intent.by === 'client');
    return await nextToEnd(host, current, intent, turn, hasRun);
  }
  if (holder.kind === 'queue') {
    const { wentOn = false, hasWaited = false, isCommitted } = taken;
    const next = await requestAt(host, current, turn);
    const { saga } = next.opened;
    // A turn that ran while the message waited may have read its answers before the answer that
    // woke the saga.
    const isWoken = hasWaited && dueOf(turn, saga.claims.iat, saga) !== undefined;
    return isCommitted || wentOn || isWoken ? next : undefined;
  }
  if (isFollowed) return await nextToAnswer(host, current, intent, turn);
  if (taken.isCommitted) return await nextAfterCommit(host, current, turn);
  if (!leadsOn(taken)) return undefined;
  const isTask = 'isTask' in holder ? holder.isTask : undefined;
  if ((await isTask?.(turn)) === true) return undefined;
  return await requestAt(host, current, turn);
}

/**
 * Moves the answers of a request to the next turn, as far as their questions are open in both
 * turns.
 */
async function nextToAnswer(
  host: HostParts,
  current: RequestedTurn,
  intent: AnswerIntent,
  turn: SuspendedTurn,
): Promise<RequestedTurn> {
  const next = await requestAt(host, current, turn);
  const { opened, at } = current;
  const ids = stepIdsOf(opened.saga.state.generation);
  const open = [...intent.news].filter(([stepId]) =>
    isSameQuestion(stepId, opened.saga, next.opened.saga),
  );
  if (open.length === 0) return next;
  const answers = new Map(open.map(([stepId, answer]) => [ids.toWire(stepId), answer]));
  return { ...next, at, intent: { ...intent, answers, news: new Map(open) } };
}

/**
 * `true` if a request that follows its saga ends at the newest turn: none of its questions is open
 * there, or the client must get the page first. That turn asks the questions again.
 */
function endsThere(taken: GuardedTurn, next: RequestedTurn | undefined): boolean {
  if (next?.intent.kind !== 'answer' || taken.isCommitted || leadsOn(taken)) return false;
  return next.intent.news.size === 0 || hasPage(taken.turn);
}

/** A repeated request goes on after a commit, which a queue may have made. */
async function nextAfterCommit(
  host: HostParts,
  current: RequestedTurn,
  turn: SuspendedTurn,
): Promise<RequestedTurn> {
  const { decided: _, ...next } = await requestAt(host, current, turn);
  // The round of this request counts once.
  const isCounted = roundsOf(next.opened.saga) > current.roundsBefore;
  const holder = isCounted ? holderAfterCommit(current.holder) : current.holder;
  return { ...next, holder, mayStay: false };
}

/** Returns the next turn of a saga that is to end. Throws NotEnded if the saga must wait. */
async function nextToEnd(
  host: HostParts,
  current: RequestedTurn,
  intent: EndIntent,
  turn: SuspendedTurn,
  hasRun: boolean,
): Promise<RequestedTurn> {
  // A suspended saga has not ended: an interrupted turn was finished first, or the saga continued
  // past its pivot.
  const next = await requestAt(host, current, turn);
  const { saga } = next.opened;
  const { claims } = saga;
  // Looking up stored turns does not count as running time.
  const until = hasRun ? (intent.until ?? current.at + host.limits.turnBudget) : intent.until;
  const { steps, due, retryAfterMs = 0 } = turn;
  const goesOnAt = steps.length > 0 ? due : claims.iat + retryAfterMs;
  const goesForward = intent.goesForward && goesOnAt !== undefined;
  const { at: now } = next;
  if (
    goesForward &&
    isPastPivot(next.opened) &&
    (now < goesOnAt || now >= (until ?? Number.POSITIVE_INFINITY))
  )
    throw new NotEnded(Math.max(0, goesOnAt - now));
  const idle = hasRun && isSameJournal(current, next) ? (intent.idle ?? 0) + 1 : 0;
  // A finished interrupted turn may record nothing.
  if (idle > 1) throw noProgress(current.opened.saga);
  return {
    ...next,
    // The guard stores the turn as long as a message can be delivered.
    opened: {
      ...next.opened,
      saga: { ...saga, claims: { ...claims, exp: messageExpiry(claims) } },
    },
    intent: { ...intent, goesForward, until, idle },
  };
}

function isSameJournal(before: RequestedTurn, after: RequestedTurn): boolean {
  const { structure, client, server } = before.opened.saga.state.program;
  const { program } = after.opened.saga.state;
  return program.structure === structure && program.client === client && program.server === server;
}

function noProgress({ claims }: SealedSaga): SagaHostError {
  return new SagaHostError(
    'no_progress',
    `'${claims.saga.name}' cannot be cancelled: two turns recorded nothing, so another turn would not end the saga.`,
  );
}

/** `true` if a kept turn leads to a newer turn, and has no page. */
function leadsOn({ turn, wentOn = false }: GuardedTurn): boolean {
  return wentOn && !hasPage(turn);
}

/**
 * `true` if a turn has a page, which no later turn repeats: the client must get it, even if its
 * answer waits. The turn asks the question again.
 */
function hasPage(turn: SagaTurn): boolean {
  return turn.status === 'suspended' && turn.hasPage === true;
}

/** `true` if a question is open in two turns, with the same parameters. */
function isSameQuestion(stepId: string, one: SealedSaga, other: SealedSaga): boolean {
  const digests = [one, other].map(({ state }) => decodeHead(state.program.head).asked[stepId]);
  return one.state.generation === other.state.generation && digests[0] === digests[1];
}

/** Reports answers to questions that are no longer open. Returns their IDs on the wire. */
function reportUnused(
  { observer: { hooks } }: HostParts,
  { intent, opened: { saga } }: RequestedTurn,
  next: RequestedTurn | undefined,
): readonly string[] {
  if (intent.kind === 'end') return [];
  const used = next?.intent.kind === 'answer' ? next.intent.news : goOn.news;
  const unused = [...intent.news.keys()].filter((stepId) => !used.has(stepId));
  const { claims, sagaId, state } = saga;
  for (const stepId of unused)
    hooks.onIgnoredAnswer({ stepId, why: 'unknown', saga: claims.saga.name, sagaId });
  const ids = stepIdsOf(state.generation);
  return unused.map((stepId) => ids.toWire(stepId));
}

/**
 * Returns the next turn of a resumable request, which goes on until its client is needed. Undefined
 * for another request.
 */
async function nextInRequest(
  host: HostParts,
  current: RequestedTurn,
  { turn }: GuardedTurn,
): Promise<RequestedTurn | undefined> {
  const resumable = resumableOf(current.holder);
  if (resumable === undefined || turn.status !== 'suspended' || hasPage(turn)) return undefined;
  await resumable.report(turn);
  const isLook = current.dialect.effects === 'never';
  const isDone = isLook ? turn.steps.length > 0 : !isHeld(host, resumable, turn);
  const isDue = turn.due !== undefined && turn.due <= host.timing.clock();
  if (isDone && !isDue) return undefined;
  return {
    ...(await requestAt(host, current, turn)),
    holder: { kind: 'request', resumable },
    dialect: resumable.dialect,
    follows: true,
    mayStay: true,
    isUnlimited: false,
  };
}

/** `true` if a wait is held in a resumable request. */
function isHeld(
  { limits, timing: { clock } }: HostParts,
  { beganAt, dialect }: ResumableRequest,
  { steps, retryAfterMs = 0 }: SuspendedTurn,
): boolean {
  if (steps.length > 0) return false;
  const { maxHold, turnBudget } = limits;
  const most = Math.min(dialect.maxHold ?? maxHold, turnBudget);
  // One request may last as long as all rounds of a call, since its client would repeat the call at
  // once. A call with a resume token holds only a part of the wait.
  const holdsAll = dialect.holdsParts === true && (dialect.asks?.length ?? 0) > 0 && most > 0;
  return clock() - beganAt + retryAfterMs <= (holdsAll ? clientRounds * maxHold : most);
}

/** Returns a turn as the client of the request gets it. A queue is no client. */
async function toClient(
  host: HostParts,
  { holder, method }: RequestedTurn,
  taken: GuardedTurn,
): Promise<GuardedTurn> {
  const { turn, wentOn } = taken;
  if (holder.kind === 'queue' || turn.status !== 'suspended') return taken;
  let own = turn;
  if (wentOn !== undefined && turn.retryAfterMs !== undefined) {
    // The wait of a kept turn was counted from the turn.
    const passed = host.timing.clock() - (await sagaOf(host, turn)).claims.iat;
    const retryAfterMs = Math.max(0, turn.retryAfterMs - Math.max(0, passed));
    own = await changedTurn(host, turn, { retryAfterMs });
  }
  // A guard may have kept the turn for another call.
  if (method !== undefined) own = await turnFor(host, method, own);
  const resumable = hasPage(own) ? undefined : resumableOf(holder);
  if (resumable !== undefined) own = await bindToRequest(host, own, resumable.id);
  return own === turn ? taken : { ...taken, turn: own };
}

/** Adds the IDs of answers that were not used to a turn. */
async function withUnknown(
  host: HostParts,
  taken: GuardedTurn,
  before: readonly string[],
): Promise<GuardedTurn> {
  if (before.length === 0) return taken;
  const { turn } = taken;
  const ids = new Set([...before, ...(turn.unknown ?? [])]);
  const unknown = [...ids].slice(0, 5).map((id) => id.slice(0, 128));
  const changed =
    turn.status === 'suspended' ? await changedTurn(host, turn, { unknown }) : { ...turn, unknown };
  return { ...taken, turn: changed };
}
