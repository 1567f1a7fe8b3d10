import { SagaCancelled } from '@mcp-saga/core';
import { decodeHead, isUnsupported, present, type ClientAnswer } from '@mcp-saga/core/program';
import { decisionsOf, digestOf } from '../guard/ask-guard.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { commitsEachStep } from '../model/holder.ts';
import { neverAborted } from '../settings/clock.ts';
import { type HostParts, mayHaveUndos } from '../settings/host-parts.ts';
import { inPlaceOf, keptBytesOf, usableOf, type RetryableRequest } from '../token/guard-records.ts';
import { found, isPastPivot, standIn, type OpenSaga } from '../token/resolve-program.ts';
import { roundOf } from '../token/sealed-saga.ts';
import { firstHolder } from '../turn/first-effects.ts';
import { runTurn } from '../turn/run-turn.ts';
import { sendBegunWake, startLater } from '../turn/settle.ts';
import { Lease, type Claimed, type GuardedTurn, type LeaseRequest } from '../turn/turn-lease.ts';
import type { EarlierRun, Intent, TurnRequest } from '../turn/turn-request.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import { warnOfInstantRefusals, withoutInstantRefusals } from './instant-refusals.ts';
import { goOn, type AnswerIntent, type EndIntent, type RequestedTurn } from './requested-turn.ts';

/**
 * Claims the turn of a request and runs it, or returns the turn that the guard has kept.
 * @throws TokenRefused `used` if another request has used the token
 */
export async function takeTurn(
  host: HostParts,
  requested: RequestedTurn,
  caller: Caller,
): Promise<GuardedTurn> {
  assertEndable(host, requested);
  const { opened, holder, dialect } = requested;
  const lease = new Lease(host, opened.saga, await leaseRequest(host, requested, caller));
  for (;;) {
    const claimed = await lease.claim();
    if ('turn' in claimed) return claimed;
    const { saga } = lease;
    // Another request has begun this start, perhaps with another version of the saga.
    const at = saga === opened.saga ? requested : { ...requested, opened: found(host, saga) };
    if (lease.isGuarded && needsWake(host, at)) {
      const client = { dialect, capabilities: caller.capabilities };
      const isSent = await sendBegunWake(host, saga, client);
      // A queue finishes a later turn by the message of the turn before. Of a start it must know first.
      if (!isSent && saga.claims.turn === 0) {
        await lease.giveBack();
        throw startLater();
      }
    }
    const turnRequest: TurnRequest = { ...turnOf(host, at, caller, claimed), saga, holder };
    const taken = await runTurn(host, turnRequest, lease);
    if (!claimed.isAwaited) return taken;
    lease.runsBehind(taken.turn);
  }
}

/** `true` if a queue must know of the turn before it runs. */
function needsWake({ guard }: HostParts, requested: RequestedTurn): boolean {
  const { intent, holder } = requested;
  if (guard?.queue === undefined || holder.kind === 'queue' || intent.kind === 'end') return false;
  // The queue has the message of a turn that can only end a wait.
  const { waits, others = [] } = decodeHead(requested.opened.saga.state.program.head);
  const onlyWaits = others.length === 0 && Object.keys(waits).length > 0;
  return intent.news.size > 0 || !onlyWaits;
}

/** Throws `cancel_not_offered` for the end of a saga that cannot have undos. */
function assertEndable(host: HostParts, { opened, intent }: RequestedTurn): void {
  if (intent.kind !== 'end') return;
  const { program, current, saga } = opened;
  if (mayHaveUndos(host, program ?? current)) return;
  throw new SagaHostError(
    'cancel_not_offered',
    `'${saga.claims.saga.name}' cannot be cancelled on a host without a store, which undoes nothing. Drop its token, or cancel it where it has one.`,
  );
}

/**
 * Makes the request for a lease; undefined for a saga with `reuse: 'ok'`. Guards sagas of removed
 * versions.
 */
async function leaseRequest(
  host: HostParts,
  requested: RequestedTurn,
  { capabilities, signal = neverAborted() }: Caller,
): Promise<LeaseRequest | undefined> {
  const { opened, intent, at, holder, dialect, follows, decided } = requested;
  const { saga } = opened;
  const { program, current } = opened;
  const first = { program: program ?? current, saga, holder, dialect };
  const isUnnamed = firstHolder(host, first) === 'queue';
  if (host.guard === undefined || !(isUnnamed || isGuarded(requested.opened))) return undefined;
  if (intent.kind === 'end') {
    return {
      action: 'cancel',
      // Undoing runs must not take over continuing runs, nor the reverse.
      digest: await digestOf(runsForward(requested, intent) ? 'forward' : 'cancel', new Map()),
      ends: intent.by === 'queue',
      brought: { answers: new Map(), dialect: {}, capabilities: undefined, at, cancels: true },
      round: 0,
      signal,
    };
  }
  const { news, afterMs } = intent;
  const answers = withoutInstantRefusals(host.answerers, afterMs, news);
  const ids = stepIdsOf(saga.state.generation);
  return {
    action: 'resume',
    digest: await digestOf('resume', news),
    ...(news.size === 0 ? {} : { decisions: await decisionsOf(saga, news) }),
    ...present({ decided }),
    brought: {
      at,
      ...(commitsEachStep(holder) ? { commitsEachStep: true } : {}),
      ...usableOf(ids, { answers, dialect, capabilities }, host.limits),
    },
    round: roundOf(saga, holder),
    // A queue acts for an absent client.
    ...(holder.kind === 'queue' ? { isWake: true, ends: true } : { awaits: true, follows }),
    ...present({ learnsEnd: requested.learnsEnd }),
    ...(isUnnamed ? { isUnnamed } : {}),
    // An undo must not wait for room.
    ...(requested.isUnlimited || saga.state.undoes === true
      ? {}
      : { keptBytes: keptBytesOf(host, saga) }),
    signal,
  };
}

/**
 * `true` if a guard keeps the turn. A start without a name cannot be repeated, and of a saga
 * with `reuse: 'ok'` only the start acts once.
 */
function isGuarded({ saga, program }: OpenSaga): boolean {
  const { turn, jti } = saga.claims;
  return turn === 0 ? jti !== saga.sagaId : program?.reuse !== 'ok';
}

/** The part of a turn that its intent and an interrupted request decide. */
type TurnOfIntent = Omit<TurnRequest, 'saga' | 'holder'>;

/** Makes the turn of a request: with its own intent, or in the place of an interrupted request. */
function turnOf(
  host: HostParts,
  requested: RequestedTurn,
  caller: Caller,
  claimed: Claimed,
): TurnOfIntent {
  const { intent } = requested;
  const { interrupted } = claimed;
  if (intent.kind === 'answer') return turnOfAnswer(host, requested, intent, caller, claimed);
  // Any other interrupted request is first run to the end of its turn.
  if (interrupted !== undefined && interrupted.cancels !== true)
    return turnOfAnswer(host, requested, goOn, caller, claimed);
  const does: Intent = runsForward(requested, intent)
    ? { kind: 'answer', answers: new Map() }
    : { kind: 'end', error: new SagaCancelled(intent.reason) };
  return {
    program: standIn(requested.opened, false, undoes(requested)),
    intent: { ...does, receivedAt: interrupted?.at },
    before: interrupted && sameRequest(interrupted),
    caller,
    dialect: {},
  };
}

function turnOfAnswer(
  host: HostParts,
  requested: RequestedTurn,
  { answers, news, afterMs }: AnswerIntent,
  caller: Caller,
  { interrupted, isAwaited, isBehind }: Claimed,
): TurnOfIntent {
  const { opened, at, dialect, follows, mayStay } = requested;
  if (interrupted === undefined) warnOfInstantRefusals(host, opened.saga, afterMs, news);
  // Stored answers are not treated again: another host may have other options for instant refusals.
  const own =
    interrupted === undefined ? withoutInstantRefusals(host.answerers, afterMs, answers) : answers;
  // A followed or awaited turn continues with its own answers.
  const takesOwn = interrupted === undefined || (!follows && !isAwaited);
  const answered = new Map([...(takesOwn ? own : []), ...(interrupted?.answers ?? [])]);
  return {
    program: standIn(opened, interrupted !== undefined, undoes(requested)),
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
    // An interrupted turn may have had effects, and uses up its token. This request still needs the
    // token of an awaited turn. A repeated call with a resume token finds its first turn, and from
    // there the others.
    mayStay: mayStay && (isAwaited || (interrupted === undefined && !isBehind)),
  };
}

/** `true` if a saga that is to end goes on instead: it has passed its pivot. */
export function runsForward({ opened }: RequestedTurn, intent: EndIntent): boolean {
  return intent.goesForward && isPastPivot(opened);
}

/**
 * `true` if a saga of a removed version is undone here. Another process may be able to undo more,
 * but an abandoned saga has no other chance.
 */
function undoes({ opened, intent }: RequestedTurn): boolean {
  const isAbandoned = intent.kind === 'end' && intent.by === 'queue';
  return isAbandoned || opened.current.onMismatch === 'compensate';
}

/** The run of an interrupted request, which a guard has kept. */
function sameRequest({ commitsEachStep: each }: RetryableRequest): EarlierRun {
  return { of: 'same request', committedEachStep: each === true };
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
