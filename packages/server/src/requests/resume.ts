import type { Json } from '@mcp-saga/core';
import { isUnsupported, present, type ClientAnswer } from '@mcp-saga/core/program';
import { digestArguments, TokenRefused } from '@mcp-saga/seal';
import { toAnswers, toArguments, stepIdsOf } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { digestOf } from '../guard/ask-guard.ts';
import { Lease, type Claimed, type GuardedTurn, type LeaseRequest } from '../turn/lease.ts';
import { fromHandle } from '../token/handles.ts';
import type { ResumeRequest } from '../model/host-requests.ts';
import type { HostParts, Answers } from '../settings/host-parts.ts';
import { keptBytesOf, inPlaceOf, usableOf } from '../token/guard-records.ts';
import { acceptsModel } from '../turn/answer-routes.ts';
import { openCommitted, standIn, versionGone, type OpenSaga } from '../token/resolve-program.ts';
import { openSaga, type TokenExpectations } from './open-saga.ts';
import { runTurn } from '../turn/run-turn.ts';
import type { TurnRequest } from '../turn/turn-request.ts';
import { roundOf, sealedFor } from '../token/sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn } from '../model/turn.ts';

/** Continues a saga from its token: every turn but the first. */
export async function resume(
  host: HostParts,
  token: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<SagaTurn> {
  try {
    let current = await opened(host, token, sent, caller, request);
    let unknown: SagaTurn['unknown'];
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      const { turn, isCommitted } = await take(host, current, caller);
      unknown ??= turn.unknown;
      if (!isCommitted || turn.status !== 'suspended') {
        // oxlint-disable-next-line no-await-in-loop -- the last time round
        return await sealedAs(host, request.method, unknown === undefined ? turn : { ...turn, unknown });
      }
      // A repeated request continues behind what was committed, and repeats nothing before it. (E1)
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      current = await committed(host, turn.token, request);
    }
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/** A guard repeats a turn as it was sealed, perhaps for the method of another dialect. */
async function sealedAs(
  { guard, keys: { sealer } }: HostParts,
  method: string | undefined,
  turn: SagaTurn,
): Promise<SagaTurn> {
  if (method === undefined || guard === undefined || turn.status !== 'suspended') return turn;
  return { ...turn, token: await sealedFor(method, sealer, turn.token) };
}

/** A turn to take: an opened token, and what the request brings. */
interface Resumption {
  readonly opened: OpenSaga;
  readonly saga: SealedSaga;
  readonly tokenBytes: number;
  /** By the IDs that the client uses. */
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** The answers to what was asked last. */
  readonly news: ReadonlyMap<string, ClientAnswer>;
  /** When the request came (ms since the epoch). */
  readonly at: number;
  /** `true` if the token may stay good after a turn that changed nothing. */
  readonly mayStay: boolean;
  /** `true` if the turn follows a commit: the client was admitted with the request, and the guard has no limit. */
  readonly isBehindCommit: boolean;
  readonly request: Pick<ResumeRequest, 'traits' | 'goesOnAs' | 'onCommit' | 'follows' | 'isOwnRound'>;
}

/** Opens the token of a client, with all checks that come before the guard. */
async function opened(
  host: HostParts,
  given: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<Resumption> {
  const { answersField = 'answers', provenance = 'client', method } = request;
  const answers = toAnswers(sent, answersField, provenance, host.limits.maxAnswers);
  const { token, purpose } = await fromHandle(host, given);
  const found = await openSaga(host, token, caller, { ...(await expected(request)), purpose });
  const { program } = found;
  const saga = method === undefined ? found.saga : startedBy(method, found.saga);
  // Repeated answers and those to older generations make no other request of it: only what was asked last counts.
  const { inner } = stepIdsOf(saga.state.generation).fromWire(answers);
  // Of a version that is gone, too: who repeats a request gets what it got, whatever has been deployed since.
  const asked = new Set(standIn(found).asked(saga.state.program));
  // A question of this saga's may say by itself that it takes them: where none is open, nothing does. (T14)
  const isTaken = asked.size > 0 || acceptsModel({ host, program: program ?? {} });
  if (provenance === 'model' && answers.size > 0 && !isTaken) {
    throw new SagaHostError(
      'invalid_params',
      `Invalid params: ${answersField}: nothing is asked of the model`,
    );
  }
  reportInstantRefusals(host, saga, asked, inner);
  return {
    opened: found,
    saga,
    tokenBytes: token.length,
    answers,
    news: new Map([...inner].filter(([stepId]) => asked.has(stepId))),
    at: host.timing.clock(),
    mayStay: saga.claims.method === found.saga.claims.method,
    isBehindCommit: false,
    request,
  };
}

/** The turn behind a commit. How the request came and what it brought belong to the turn before. */
async function committed(
  host: HostParts,
  token: string,
  { traits, goesOnAs, onCommit }: ResumeRequest,
): Promise<Resumption> {
  const found = await openCommitted(host, token);
  return {
    opened: found,
    saga: found.saga,
    tokenBytes: token.length,
    answers: new Map(),
    news: new Map(),
    at: host.timing.clock(),
    mayStay: false,
    isBehindCommit: true,
    request: {
      ...present({ traits, goesOnAs, onCommit }),
    },
  };
}

/** Takes one turn, and those behind its commits. */
async function take(host: HostParts, current: Resumption, caller: Caller): Promise<GuardedTurn> {
  const lease = new Lease(host, current.saga, await leaseRequest(host, current, caller));
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- an interrupted request runs first
    const claimed = await lease.claim();
    if ('turn' in claimed) return claimed;
    // oxlint-disable-next-line no-await-in-loop -- an interrupted request runs first
    const taken = await runTurn(host, turnRequest(host, current, caller, lease.isGuarded, claimed), lease);
    if (!claimed.isAwaited) return taken;
    lease.runsBehind(taken.turn);
  }
}

/** What the guard is asked. Undefined: the saga accepts forks. The declaration of a version that is gone is unknown: it is guarded. */
async function leaseRequest(
  host: HostParts,
  { opened: { program }, saga, tokenBytes, news, at, isBehindCommit, request }: Resumption,
  { capabilities, signal = new AbortController().signal }: Caller,
): Promise<LeaseRequest | undefined> {
  if (host.guard === undefined || program?.forks === 'accept') return undefined;
  const { traits = {}, follows = false, isOwnRound = false } = request;
  const answers = withoutInstantRefusals(host.answers, saga, news, at);
  return {
    action: 'resume',
    digest: await digestOf('resume', news),
    brought: usableOf(stepIdsOf(saga.state.generation), { answers, traits, capabilities, at }, host.limits),
    round: roundOf(saga, isOwnRound),
    awaits: true,
    follows,
    ...(isBehindCommit ? {} : { keptBytes: keptBytesOf(host, saga, tokenBytes) }),
    signal,
  };
}

/** The turn that a request runs: with its own answers, or in the place of the request that began the turn. */
function turnRequest(
  host: HostParts,
  { opened: found, saga, answers, at, tokenBytes, mayStay, request }: Resumption,
  caller: Caller,
  isGuarded: boolean,
  { lost, isAwaited, isBehind }: Claimed,
): TurnRequest {
  const { traits = {}, goesOnAs, onCommit, isOwnRound = false, follows } = request;
  // Another host may treat instant refusals differently, so the answers of an interrupted request are kept as they were taken.
  const own = lost === undefined ? withoutInstantRefusals(host.answers, saga, answers, at) : answers;
  // What it follows or awaits was begun and never finished: it continues with the answers of that request alone.
  const takesOwn = lost === undefined || (follows !== true && !isAwaited);
  const answered = new Map([...(takesOwn ? own : []), ...(lost?.answers ?? [])]);
  return {
    program: standIn(found, lost !== undefined),
    saga,
    answers: answered,
    receivedAt: lost === undefined ? at : lost.at,
    isInterrupted: lost !== undefined || isBehind,
    // Served otherwise, it might take another way than what was lost, and nobody would know what that did.
    caller: lost === undefined ? caller : inPlaceOf(lost, caller),
    tokenBytes,
    traits: ableToTake(answered, lost?.traits ?? traits),
    isGuarded,
    isOwn: isOwnRound,
    // An interrupted turn may have had effects: its token is used up. This request still needs the token it awaits.
    // A repeated call with a resume token finds its first turn, and from there the others.
    mayStay: isGuarded && mayStay && (isAwaited || (lost === undefined && !isBehind)),
    goesOnAs,
    // The turn behind a commit is this request's, and no longer in the place of the interrupted one.
    commits: !isGuarded && onCommit === undefined ? undefined : lost === undefined ? 'continue' : 'hand over',
    onCommit,
    endsAfterStep: traits.checkpointAfterStep === true && onCommit === undefined,
    failsAs: found.program === undefined ? versionGone(saga, true) : undefined,
  };
}

/** No token can record "method not found", so the turn with that answer also runs what replaces the client. */
function ableToTake(answers: ReadonlyMap<string, ClientAnswer>, traits: DialectTraits): DialectTraits {
  if (![...answers.values()].some(isUnsupported)) return traits;
  return { ...traits, runs: true, defersEffects: false };
}

async function expected({ methods, entry }: ResumeRequest): Promise<TokenExpectations> {
  return {
    ...present({ methods }),
    ...(entry === undefined
      ? {}
      : {
          entry: {
            target: entry.target,
            argsDigest: await digestArguments(toArguments(entry.args)),
          },
        }),
  };
}

/** Hands a saga to another call, which has all of its rounds. */
function startedBy(method: string, { claims, state, ...saga }: SealedSaga): SealedSaga {
  return { ...saga, claims: { ...claims, method }, state: { ...state, ownTurns: claims.turn } };
}

/** Reports instant refusals to `onInstantRefusal`. */
function reportInstantRefusals(
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

/** Replaces instant refusals by a "method not found" error, with `treatAs: 'unsupported'`. `at` is the time of the request. */
function withoutInstantRefusals(
  { instantRefusals: { withinMs, treatAs } }: Pick<Answers, 'instantRefusals'>,
  { claims }: SealedSaga,
  answers: ReadonlyMap<string, ClientAnswer>,
  at: number,
): ReadonlyMap<string, ClientAnswer> {
  if (treatAs !== 'unsupported' || at - claims.iat >= withinMs) return answers;
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
  const { action } = Object('result' in answer ? answer.result : undefined) as { readonly action?: Json };
  return action === 'decline' || action === 'cancel' ? action : undefined;
}
