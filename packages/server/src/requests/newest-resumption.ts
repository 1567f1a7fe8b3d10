import { decodeHead } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import { decisionsOf } from '../guard/ask-guard.ts';
import type { Caller } from '../model/caller.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import type { GuardedTurn } from '../turn/turn-lease.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import { take, withoutAnswers, type Resumption } from './resumption.ts';
import { changedTurn, openTurn, sagaOf } from '../token/saga-of-turn.ts';

/**
 * Takes the turn of a request, wherever the saga is by now.
 *
 * A token that only time has moved on was used by a request without answers: by the queue, by a
 * poll whose response was lost, or by a late copy of a poll. The client has decided nothing with
 * it. Its request continues from the newest turn: with its answers to questions that are still open
 * there, or with the response of that turn. A token that was used with answers is used up, and
 * other answers are refused as a fork.
 *
 * Each turn on the way is taken by its own claim at the guard, without answers first if the answers
 * are refused: only the request that used the token gets its response.
 * @throws TokenRefused `used` if the client has used the token with other answers
 */
export async function takeNewest(
  host: HostParts,
  first: Resumption,
  caller: Caller,
): Promise<GuardedTurn> {
  const unused: string[] = [];
  let current = first;
  let newest: GuardedTurn | undefined;
  for (;;) {
    let isMoved = false;
    let taken: GuardedTurn;
    try {
      taken = await take(host, current, caller);
    } catch (error) {
      if (!isUsed(error)) throw error;
      // The client itself has used the token of the newest turn.
      if (current.news.size === 0 && newest !== undefined) return withUnused(newest, unused);
      if (current.news.size === 0) throw error;
      // Time sends no answers. This throws if the client has sent others.
      const decided = await decisionsOf(current.saga, current.news);
      const followed = { ...current, answers: nothing, news: nothing, decided };
      taken = await take(host, followed, caller);
      // The request has used a token on the way, whose response is gone.
      if (taken.isKnown === true) current = followed;
      else isMoved = true;
    }
    const { turn, isCommitted } = taken;
    const isNewest = turn.status !== 'suspended' || (!isCommitted && !leadsOn(taken));
    let next: Resumption | undefined;
    if (turn.status === 'suspended' && (isMoved || !isNewest))
      next = await behind(host, current, turn);
    if (isMoved) unused.push(...reportUnused(host, current, next?.news));
    const endsHere = isNewest && (next?.news.size === 0 || hasPage(turn));
    if (next === undefined || endsHere || (!isMoved && isCommitted))
      return withUnused(await withRest(host, taken), unused);
    current = isMoved ? next : { ...next, answers: nothing, news: nothing };
    newest = taken;
  }
}

const nothing: Resumption['news'] = new Map();

/** `true` for the error of a token that was used by another request. */
export function isUsed(error: unknown): boolean {
  return error instanceof TokenRefused && error.reason === 'used';
}

/** `true` if a kept turn leads to a newer turn, and has no page. */
function leadsOn({ turn, wentOn = false }: GuardedTurn): boolean {
  return turn.status === 'suspended' && wentOn && !hasPage(turn);
}

/**
 * `true` if a turn has a page, which no later turn repeats: the client must get it, even if its
 * answer waits. The turn asks the question again.
 */
function hasPage(turn: SagaTurn): boolean {
  return turn.status === 'suspended' && turn.hasPage === true;
}

/**
 * Moves a request to the token of a newer turn, with its answers to questions that are open in both
 * turns.
 */
async function behind(
  host: HostParts,
  current: Resumption,
  turn: SuspendedTurn,
): Promise<Resumption> {
  const { saga: before, news, at, askedAt, mayStay, holder, request } = current;
  const opened = await openTurn(host, turn);
  const ids = stepIdsOf(before.state.generation);
  const open = [...news].filter(([stepId]) => isSameQuestion(stepId, before, opened.saga));
  return {
    ...withoutAnswers(host, opened),
    answers: new Map(open.map(([stepId, answer]) => [ids.toWire(stepId), answer])),
    news: new Map(open),
    decided: current.decided,
    at,
    askedAt,
    mayStay,
    isBehindCommit: true,
    holder,
    request,
  };
}

/** Reports answers to questions that are no longer open. Returns the IDs of their steps. */
function reportUnused(
  { observer: { hooks } }: HostParts,
  { saga: { claims, sagaId, state }, news }: Resumption,
  used: Resumption['news'] = nothing,
): readonly string[] {
  const unused = [...news.keys()].filter((stepId) => !used.has(stepId));
  for (const stepId of unused)
    hooks.onIgnoredAnswer({ stepId, why: 'unknown', saga: claims.saga.name, sagaId });
  const ids = stepIdsOf(state.generation);
  return unused.map((stepId) => ids.toWire(stepId));
}

/** `true` if a question is open in two turns, with the same parameters. */
function isSameQuestion(stepId: string, one: SealedSaga, other: SealedSaga): boolean {
  const digests = [one, other].map(({ state }) => decodeHead(state.program.head).asked[stepId]);
  return one.state.generation === other.state.generation && digests[0] === digests[1];
}

/** Corrects the wait of a kept turn, which was counted from the turn. */
async function withRest(host: HostParts, taken: GuardedTurn): Promise<GuardedTurn> {
  const { turn, wentOn } = taken;
  if (wentOn === undefined || turn.status !== 'suspended' || turn.retryAfterMs === undefined)
    return taken;
  const { claims } = await sagaOf(host, turn);
  const passed = Math.max(0, host.timing.clock() - claims.iat);
  const retryAfterMs = Math.max(0, turn.retryAfterMs - passed);
  return { ...taken, turn: await changedTurn(host, turn, { retryAfterMs }) };
}

/** Adds the IDs of answers to questions that are no longer open. */
function withUnused(taken: GuardedTurn, unused: readonly string[]): GuardedTurn {
  if (unused.length === 0) return taken;
  const unknown = [...unused, ...(taken.turn.unknown ?? [])]
    .slice(0, 5)
    .map((id) => id.slice(0, 128));
  return { ...taken, turn: { ...taken.turn, unknown } };
}
