import { AnswerConflict, type Awaitable, type ClientAnswer } from '@mcp-saga/core';
import { canonicalize, digestText, TokenRefused } from '@mcp-saga/seal';
import type { GuardClaim, GuardVerdict, SagaGuard } from '../model/guard.ts';
import { askGuard } from '../guard/ask-guard.ts';
import { SagaHostError } from '../wire/errors.ts';
import { guardFull, ownerOf } from '../guard/guard-owner.ts';
import type { HostSettings } from '../settings/host-settings.ts';
import { guardedUntil, respondsUntil } from '../guard/guard-retention.ts';
import { cannotContinue } from './cannot-continue.ts';
import { noteCancelAgain } from './note-cancel.ts';
import { renderQuestions } from './render-questions.ts';
import { openResponse, sealResponse } from '../token/sealed-response.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { settleTurn } from './settle-turn.ts';
import { sleep } from '../settings/clock.ts';
import { tracedAgain } from './traced-turn.ts';
import type { SagaTurn } from '../model/turn.ts';

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
export type Run = (interrupted: Interrupted) => Promise<SagaTurn>;

/**
 * Runs a turn under the guard: one request for each token. The same request again gets the same response; another
 * one gets the frozen answer. One that ends a turn that was begun and never finished runs that to its end. (T13)
 */
export async function guarded(
  settings: HostSettings,
  guard: SagaGuard,
  saga: SealedSaga,
  request: Pick<GuardClaim, 'action' | 'digest' | 'follows' | 'request' | 'ends' | 'awaits'> & {
    readonly signal: AbortSignal;
    /** Bytes of the saga in the guard. Default: the turn has no limit. */
    readonly keptBytes?: number;
  },
  run: Run,
): Promise<SagaTurn> {
  const { claims, sagaId } = saga;
  const claim: GuardClaim = {
    sagaId,
    turn: claims.turn,
    jti: claims.jti,
    action: request.action,
    digest: request.digest,
    ...(request.follows === true ? { follows: true } : {}),
    ...(request.request === undefined ? {} : { request: request.request }),
    ...(request.ends === true ? { ends: true } : {}),
    ...(await ownerOf(settings, saga, request)),
    leaseMs: settings.leaseMs,
    expiresAt: guardedUntil(settings, claims),
    respondsUntil: respondsUntil(settings, claims),
  };
  const giveUp = settings.clock() + settings.leaseMs;
  let isBehind = false;
  for (let waits = 0; ; waits += 1) {
    // oxlint-disable-next-line no-await-in-loop -- waits for its turn
    const verdict = await begun(settings, guard, {
      ...claim,
      now: settings.clock(),
      ...(request.awaits === true && waits < mostAwaits ? { awaits: true } : {}),
    });
    // oxlint-disable-next-line no-await-in-loop -- the last time round
    if (verdict === 'down') return await settleTurn(settings, await run({}));
    if (verdict === 'conflict') throw new TokenRefused('used');
    if (verdict === 'full') throw guardFull(settings);
    if (verdict === 'busy') {
      if (request.signal.aborted || settings.clock() >= giveUp) {
        throw tooLate();
      }
      // oxlint-disable-next-line no-await-in-loop -- waits for its turn
      await sleep(busyWait(waits), request.signal);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- the last time round
    if ('response' in verdict) {
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      const opened = await openResponse(settings.responses, saga, verdict.response);
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      const turn = 'asked' in opened ? await renderQuestions(settings, opened) : opened;
      tracedAgain(settings, saga, turn);
      // Told again, should the first time have been lost: of a turn that is not the last one, its client knew. What a queue
      // delivers is the newest that it was told, so that of the next turn it was not, whoever has gone on.
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      if (verdict.wentOn === false || verdict.other === true) await noteCancelAgain(settings, turn);
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      await settleTurn(settings, turn);
      if (verdict.other === true) throw new TokenRefused('used');
      return turn;
    }
    const { run: fence, begun: interrupted, other: isAwaited = false } = verdict;
    if (interrupted === undefined && (request.keptBytes ?? 0) >= settings.limits.maxKeptBytesPerSaga) {
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      await askGuard(settings, () => guard.forget(fence));
      throw guardFull(settings);
    }
    // oxlint-disable-next-line no-await-in-loop -- the last time round but once
    const turn = await finished(settings, guard, saga, fence, isAwaited, () =>
      run({ begun: interrupted, isAwaited, isBehind }),
    );
    if (!isAwaited) return turn;
    // What it changed, another request has answered.
    if (isBehind || !isSameTurn(turn, saga)) throw new TokenRefused('used');
    isBehind = true;
  }
}

async function finished(
  settings: HostSettings,
  guard: SagaGuard,
  saga: SealedSaga,
  fence: Parameters<SagaGuard['finish']>[0],
  isAwaited: boolean,
  run: () => Promise<SagaTurn>,
): Promise<SagaTurn> {
  let turn: SagaTurn;
  let response: string | undefined;
  try {
    turn = await run();
    if (!isSameTurn(turn, saga)) response = await sealResponse(settings.responses, saga, turn);
  } catch (error) {
    // A conflict is found before anything runs, and so is code that cannot continue the saga. Another error may follow an
    // effect: then only the same request may come again. If this call fails as well, the lease runs out.
    // What an awaited request ran before it was interrupted is still unknown.
    const isLater = cannotContinue(error);
    const ranNothing = !isAwaited && (error instanceof AnswerConflict || isLater);
    await askGuard(settings, () => (ranNothing ? guard.forget(fence) : guard.release(fence))).catch(
      () => undefined,
    );
    if (isAwaited && isLater) throw new TokenRefused('used');
    throw error;
  }
  if (response === undefined) {
    // The guard refuses other answers until it has forgotten these.
    if ((await kept(settings, () => guard.forget(fence))) === false) throw tooLate();
    return turn;
  }
  const sealed = response;
  // A response that came too late is not the one that counts: the client asks again, and gets that one.
  if (!(await kept(settings, () => guard.finish(fence, sealed)))) throw tooLate();
  return await settleTurn(settings, turn);
}

/** Returns `true` if a turn changed nothing: its token belongs to the turn of the request. */
function isSameTurn(turn: SagaTurn, { claims }: SealedSaga): boolean {
  return turn.status === 'suspended' && turn.turn === claims.turn;
}

function tooLate(): SagaHostError {
  return new SagaHostError('busy', 'The same request is being run. Send it again later.');
}

/** Keeps a response. Where the guard may be down, a response that cannot be kept is still one. */
async function kept<T>(settings: HostSettings, keep: () => Awaitable<T>): Promise<T | true> {
  if (settings.whenGuardIsDown === 'closed') return await askGuard(settings, keep);
  return await askGuard(settings, keep).catch(() => true);
}

async function begun(
  settings: HostSettings,
  guard: SagaGuard,
  claim: GuardClaim,
): Promise<GuardVerdict | 'down'> {
  if (settings.whenGuardIsDown === 'closed') return await askGuard(settings, () => guard.begin(claim));
  return await askGuard(settings, () => guard.begin(claim)).catch(() => 'down' as const);
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
