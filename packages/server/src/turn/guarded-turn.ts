import { present } from '@mcp-saga/core/program';
import { AnswerConflict, type ClientAnswer } from '@mcp-saga/core';
import { canonicalize, digestText, TokenRefused } from '@mcp-saga/seal';
import type { GuardClaim, GuardVerdict } from '../model/guard.ts';
import { askGuard, guardFull, ownerOf, guardedUntil, respondsUntil } from '../guard/ask-guard.ts';
import type { GuardAccess, HostParts } from '../settings/host-parts.ts';
import { begun, isSameTurn, Lease, tooLate } from './lease.ts';
import { cannotContinue } from './cannot-continue.ts';
import { noteCancelAgain, settleTurn } from './settle-turn.ts';
import { renderQuestions } from './repeat-turn.ts';
import { openResponse } from '../token/guard-records.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { sleep } from '../settings/clock.ts';
import { tracedAgain } from './traced-turn.ts';
import type { SagaTurn } from '../model/turn.ts';
import type { HostLimits } from '../model/host-limits.ts';

/** How often a request looks whether another one has ended that it awaits: for about 4 s. */
const mostAwaits = 10;

/** What a request finds that wants to run a turn. */
export interface Interrupted {
  /** The sealed request that began the turn and did not finish it. */
  readonly begun?: string | undefined;
  /** `true` if `begun` is to be run with its own answers: this request brings others, and waits for it. */
  readonly isAwaited?: boolean;
  /** `true` if an interrupted request was run to its end before this one, and changed nothing. */
  readonly isBehind?: boolean;
}

/** Runs a turn: as this request wants it, or as the interrupted one wanted it. */
export type Run = (interrupted: Interrupted, lease?: Lease) => Promise<SagaTurn>;

/** A turn that counts. */
export interface GuardedTurn {
  readonly turn: SagaTurn;
  /** `true` if the turn was committed, and nobody continues it here: no client gets its token. */
  readonly isCommitted: boolean;
}

/** As much of a claim as a request says. */
export interface GuardedRequest extends Pick<
  GuardClaim,
  'action' | 'digest' | 'follows' | 'request' | 'ends' | 'awaits'
> {
  /** Bytes of the saga in the guard. Default: the turn has no limit. */
  readonly keptBytes?: number;
}

/** The claim of a request for the turn of a token. */
export async function claimOf(
  host: HostParts,
  saga: SealedSaga,
  request: GuardedRequest,
): Promise<GuardClaim> {
  const { claims, sagaId } = saga;
  const { action, digest, follows, ends } = request;
  return {
    sagaId,
    turn: claims.turn,
    jti: claims.jti,
    action,
    digest,
    ...(follows === true ? { follows: true } : {}),
    ...present({ request: request.request }),
    ...(ends === true ? { ends: true } : {}),
    ...(await ownerOf(host, saga, request)),
    leaseMs: host.timing.leaseMs,
    expiresAt: guardedUntil(host, claims),
    respondsUntil: respondsUntil(host, claims),
  };
}

/**
 * Runs a turn under the guard: one request for each token. The same request again gets the same response; another
 * one gets the frozen answer. One that ends a turn that was begun and never finished runs that to its end. (T13)
 */
export async function guarded(
  host: HostParts,
  guard: GuardAccess,
  saga: SealedSaga,
  request: GuardedRequest & { readonly signal: AbortSignal },
  run: Run,
): Promise<GuardedTurn> {
  const claim = await claimOf(host, saga, request);
  const giveUp = host.timing.clock() + host.timing.leaseMs;
  let isBehind = false;
  for (let waits = 0; ; waits += 1) {
    const awaits = request.awaits === true && waits < mostAwaits ? { awaits: true } : {};
    // oxlint-disable-next-line no-await-in-loop -- waits for its turn
    const verdict = await begun(host, guard, { ...claim, ...awaits });
    if (verdict === 'conflict') throw new TokenRefused('used');
    if (verdict === 'full') throw guardFull(host.observer);
    if (verdict === 'busy') {
      if (request.signal.aborted || host.timing.clock() >= giveUp) throw tooLate();
      // oxlint-disable-next-line no-await-in-loop -- waits for its turn
      await sleep(busyWait(waits), request.signal);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- the last time round
    if (verdict !== 'down' && 'response' in verdict) return await again(host, saga, verdict);
    const {
      run: fence,
      begun: interrupted,
      other: isAwaited = false,
    } = verdict === 'down' ? unguarded : verdict;
    const lease = new Lease(host, guard, saga, fence);
    if (fence !== undefined && interrupted === undefined && isFull(host.limits, request)) {
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      await askGuard(host.observer, () => guard.store.forget(fence));
      throw guardFull(host.observer);
    }
    // oxlint-disable-next-line no-await-in-loop -- the last time round but once
    const ended = await finished(host, lease, run, { begun: interrupted, isAwaited, isBehind });
    if (!isAwaited) return ended;
    // What it changed, another request has answered.
    if (isBehind || !isSameTurn(ended.turn, saga)) throw new TokenRefused('used');
    isBehind = true;
  }
}

const unguarded: { readonly run: undefined; readonly begun?: string; readonly other?: true } = {
  run: undefined,
};

function isFull(limits: HostLimits, { keptBytes = 0 }: GuardedRequest): boolean {
  return keptBytes >= limits.maxKeptBytesPerSaga;
}

/** The response that a guard kept. */
async function again(
  host: HostParts,
  saga: SealedSaga,
  verdict: Extract<GuardVerdict, { response: unknown }>,
): Promise<GuardedTurn> {
  const { turn: kept, isCommitted } = await openResponse(host.keys.responses, saga, verdict.response);
  const turn = 'asked' in kept ? await renderQuestions(host, kept) : kept;
  tracedAgain(host.observer, saga, turn);
  // Told again, should the first time have been lost: of a turn that is not the last one, its client knew. What a queue
  // delivers is the newest that it was told, so that of the next turn it was not, whoever has gone on.
  if (verdict.wentOn === false || verdict.other === true) await noteCancelAgain(host, turn);
  await settleTurn(host.observer, turn);
  if (verdict.other === true) throw new TokenRefused('used');
  return { turn, isCommitted };
}

async function finished(
  host: HostParts,
  lease: Lease,
  run: Run,
  interrupted: Interrupted,
): Promise<GuardedTurn> {
  const { isAwaited = false } = interrupted;
  let turn: SagaTurn;
  try {
    turn = await run(interrupted, lease);
    await lease.seal(turn);
  } catch (error) {
    if (lease.left !== undefined) return { turn: lease.left, isCommitted: true };
    // A conflict is found before anything runs, and so is code that cannot continue the saga. Another error may follow an
    // effect: then only the same request may come again. If this call fails as well, the lease runs out.
    // What an awaited request ran before it was interrupted is still unknown.
    const isLater = cannotContinue(error);
    await lease.release(!isAwaited && (error instanceof AnswerConflict || isLater));
    if (isAwaited && isLater) throw new TokenRefused('used');
    throw error;
  }
  const isKept = await lease.finish();
  return { turn: isKept ? await settleTurn(host.observer, turn) : turn, isCommitted: false };
}

const maxAnswerDepth = 64;

/** A digest of what a request brings: equal for equal answers, whatever their order. */
export async function digestOf(action: string, answers: ReadonlyMap<string, ClientAnswer>): Promise<string> {
  const sorted = [...answers].toSorted(([one], [other]) => (one < other ? -1 : 1));
  // An answer may be as deep as the door lets through, and stands in a few lists and objects here.
  return await digestText(canonicalize([action, sorted], { maxDepth: 2 * maxAnswerDepth }));
}

const first = 50;

const longest = 1_000;

/**
 * How long to wait before a guard is asked again about a request that is being run elsewhere, in milliseconds. Most
 * turns are short, so the first waits are; a long one shall not keep a guard on a network busy. Spread, so that many
 * that wait do not ask together.
 *
 * @param waits - how often it has been waited for already
 * @param random - in [0, 1); default `Math.random`
 */
export function busyWait(waits: number, random: () => number = Math.random): number {
  const most = Math.min(longest, first * 2 ** waits);
  return most * (0.5 + random() / 2);
}
