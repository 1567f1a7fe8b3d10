/**
 * Requests of a host. `start.ts` begins a saga, `resume.ts` opens a token and takes its turn,
 * `cancel.ts` ends a saga, and `status.ts` reads one. `host.ts` gives each of them the parts of
 * the host.
 *
 * 1. The token is opened, and its claims are compared with the request and the caller
 *    (`open-for-caller.ts`).
 * 2. The answers that fit open questions identify the request: the same answers are the same
 *    request.
 * 3. `take` claims the turn at the guard, and runs it, or gets what the guard has kept.
 * 4. `takeNewest` goes on to the newest turn, if only time has moved the saga on.
 *
 * - All checks come before the claim: a request that is refused has used nothing.
 * - A client that has decided something with a token cannot decide otherwise with it.
 */
import type { Json } from '@mcp-saga/core';
import { decodeHead, isUnsupported, present, type ClientAnswer } from '@mcp-saga/core/program';
import { decisionsOf, digestOf } from '../guard/ask-guard.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { commitsEachStep, type Holder } from '../model/holder.ts';
import type { ResumeRequest } from '../model/request-types.ts';
import type { GuardClaim } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { Answers, HostParts } from '../settings/host-parts.ts';
import { neverAborted } from '../settings/clock.ts';
import { inPlaceOf, keptBytesOf, usableOf, type RetryableRequest } from '../token/guard-records.ts';
import { standIn, type OpenSaga } from '../token/resolve-program.ts';
import { roundOf } from '../token/sealed-saga.ts';
import { Lease, type Claimed, type GuardedTurn, type LeaseRequest } from '../turn/turn-lease.ts';
import { runTurn } from '../turn/run-turn.ts';
import { sendBegunWake } from '../turn/settle.ts';
import type { EarlierRun, TurnRequest } from '../turn/turn-request.ts';
import { stepIdsOf } from '../wire/step-answers.ts';

/** Opened token, and the content of its request. */
export interface Resumption {
  readonly opened: OpenSaga;
  readonly saga: SealedSaga;
  /** Answers by the IDs on the wire. */
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** Answers to the pending questions. */
  readonly news: ReadonlyMap<string, ClientAnswer>;
  /** What a request decides that follows the saga to the turn where it can be used. */
  readonly decided?: GuardClaim['decided'];
  /** Time of the request (ms since the epoch). */
  readonly at: number;
  /** Time at which the client got the questions (ms since the epoch). */
  readonly askedAt: number;
  /** `true` if the token may stay good after a turn without changes. */
  readonly mayStay: boolean;
  /** `true` if the turn follows a commit: limits were checked before. */
  readonly isBehindCommit: boolean;
  readonly holder: Holder;
  readonly request: Pick<ResumeRequest, 'dialect' | 'follows'>;
}

/** Makes the request of a client that repeats its token without answers. */
export function withoutAnswers(
  host: Pick<HostParts, 'timing'>,
  opened: OpenSaga,
): Omit<Resumption, 'isBehindCommit'> {
  const { saga } = opened;
  return {
    opened,
    saga,
    answers: new Map(),
    news: new Map(),
    at: host.timing.clock(),
    askedAt: saga.claims.iat,
    mayStay: true,
    holder: { kind: 'client' },
    request: {},
  };
}

/** Runs one turn, and the turns after its commits. */
export async function take(
  host: HostParts,
  current: Resumption,
  caller: Caller,
): Promise<GuardedTurn> {
  const needsWake = host.guard?.queue !== undefined && current.holder.kind !== 'queue';
  const lease = new Lease(host, current.saga, await leaseRequest(host, current, caller));
  for (;;) {
    const claimed = await lease.claim();
    if ('turn' in claimed) return claimed;
    if (lease.isGuarded && needsWake && !onlyWaits(current)) {
      const client = { dialect: current.request.dialect ?? {}, capabilities: caller.capabilities };
      await sendBegunWake(host, current.saga, client);
    }
    const taken = await runTurn(host, turnRequest(host, current, caller, claimed), lease);
    if (!claimed.isAwaited) return taken;
    lease.runsBehind(taken.turn);
  }
}

/** `true` if the turn can only end a wait, for which the queue has a message. */
function onlyWaits({ news, saga }: Resumption): boolean {
  const { waits, others = [] } = decodeHead(saga.state.program.head);
  return news.size === 0 && others.length === 0 && Object.keys(waits).length > 0;
}

/**
 * Makes the request for a lease; undefined if the saga accepts forks. Guards sagas of removed
 * versions.
 */
async function leaseRequest(
  host: HostParts,
  current: Resumption,
  { capabilities, signal = neverAborted() }: Caller,
): Promise<LeaseRequest | undefined> {
  const { saga, news, at, isBehindCommit, holder, request } = current;
  const { program } = current.opened;
  if (host.guard === undefined || program?.forks === 'accept') return undefined;
  const { dialect = {}, follows = false } = request;
  const answers = withoutInstantRefusals(host.answers, current, news);
  return {
    action: 'resume',
    digest: await digestOf('resume', news),
    ...(news.size === 0 ? {} : { decisions: await decisionsOf(saga, news) }),
    ...present({ decided: current.decided }),
    brought: {
      at,
      ...(commitsEachStep(holder) ? { commitsEachStep: true } : {}),
      ...usableOf(
        stepIdsOf(saga.state.generation),
        { answers, dialect, capabilities },
        host.limits,
      ),
    },
    round: roundOf(saga, holder),
    // A queue acts for an absent client.
    ...(holder.kind === 'queue' ? { isWake: true, ends: true } : { awaits: true, follows }),
    // An undo must not wait for room.
    ...(isBehindCommit || saga.state.undoes === true ? {} : { keptBytes: keptBytesOf(host, saga) }),
    signal,
  };
}

/** The run of an interrupted request, which a guard has kept. */
export function sameRequest({ commitsEachStep: each }: RetryableRequest): EarlierRun {
  return { of: 'same request', committedEachStep: each === true };
}

/** Makes the turn of a request: with its own answers, or in the place of an interrupted request. */
function turnRequest(
  host: HostParts,
  current: Resumption,
  caller: Caller,
  { interrupted, isAwaited, isBehind }: Claimed,
): TurnRequest {
  const { opened, saga, answers, at, mayStay, holder, request } = current;
  const { dialect = {}, follows } = request;
  // Stored answers are not treated again: another host may have other options for instant refusals.
  const own =
    interrupted === undefined ? withoutInstantRefusals(host.answers, current, answers) : answers;
  // A followed or awaited turn continues with its own answers.
  const takesOwn = interrupted === undefined || (follows !== true && !isAwaited);
  const answered = new Map([...(takesOwn ? own : []), ...(interrupted?.answers ?? [])]);
  return {
    program: standIn(opened, interrupted !== undefined),
    saga,
    intent: {
      kind: 'answer',
      answers: answered,
      receivedAt: interrupted === undefined ? at : interrupted.at,
    },
    before:
      interrupted !== undefined
        ? sameRequest(interrupted)
        : isBehind
          ? { of: 'other request' }
          : undefined,
    // With other capabilities, the turn might take another branch than the interrupted run, whose
    // effects would be unknown.
    caller: interrupted === undefined ? caller : inPlaceOf(interrupted, caller),
    dialect: ableToTake(answered, interrupted?.dialect ?? dialect),
    holder,
    // An interrupted turn may have had effects, and uses up its token. This request still needs the
    // token of an awaited turn. A repeated call with a resume token finds its first turn, and from
    // there the others.
    mayStay: mayStay && (isAwaited || (interrupted === undefined && !isBehind)),
  };
}

/**
 * No token can record "method not found", so the same turn also runs the replacement of the client.
 */
function ableToTake(
  answers: ReadonlyMap<string, ClientAnswer>,
  dialect: DialectCapabilities,
): DialectCapabilities {
  if (![...answers.values()].some(isUnsupported)) return dialect;
  return { ...dialect, effects: 'now' };
}

/** Reports refusals that are faster than any person. */
export function reportInstantRefusals(
  { observer, timing, answers: by }: Pick<HostParts, 'observer' | 'timing' | 'answers'>,
  { claims, sagaId }: SealedSaga,
  asked: ReadonlySet<string>,
  answers: ReadonlyMap<string, ClientAnswer>,
): void {
  const afterMs = timing.clock() - claims.iat;
  if (afterMs >= by.instantRefusals.withinMs) return;
  for (const [stepId, answer] of answers) {
    const action = asked.has(stepId) ? refusalOf(answer) : undefined;
    if (action !== undefined)
      observer.hooks.onInstantRefusal({ saga: claims.saga.name, sagaId, stepId, action, afterMs });
  }
}

/**
 * Replaces instant refusals by a "method not found" error, with `treatAs: 'unsupported'`. Times are
 * in ms since the epoch.
 */
function withoutInstantRefusals(
  { instantRefusals: { withinMs, treatAs } }: Pick<Answers, 'instantRefusals'>,
  { askedAt, at }: { readonly askedAt: number; readonly at: number },
  answers: ReadonlyMap<string, ClientAnswer>,
): ReadonlyMap<string, ClientAnswer> {
  if (treatAs !== 'unsupported' || at - askedAt >= withinMs) return answers;
  const unsupported = { code: -32_601, message: 'Refused before a person could read it.' };
  return new Map(
    [...answers].map(([stepId, answer]) => [
      stepId,
      answer.provenance === 'client' && refusalOf(answer) !== undefined
        ? { error: unsupported, provenance: 'client' }
        : answer,
    ]),
  );
}

function refusalOf(answer: ClientAnswer): 'decline' | 'cancel' | undefined {
  const { action } = Object('result' in answer ? answer.result : undefined) as {
    readonly action?: Json;
  };
  return action === 'decline' || action === 'cancel' ? action : undefined;
}
