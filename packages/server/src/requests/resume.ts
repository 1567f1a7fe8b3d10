import type { ClientAnswer } from '@mcp-saga/core';
import { isUnsupported } from '@mcp-saga/core/program';
import { digestArguments, TokenRefused } from '@mcp-saga/seal';
import { toAnswers, toArguments } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf } from '../wire/step-ids.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { digestOf, guarded, type Interrupted } from '../turn/guarded-turn.ts';
import { fromHandle } from '../token/handles.ts';
import type { ResumeRequest } from '../model/host-requests.ts';
import type { HostSettings } from '../settings/host-settings.ts';
import { reportInstantRefusals, withoutInstantRefusals } from './instant-refusals.ts';
import { keptBytesOf } from '../token/response-bytes.ts';
import { acceptsModel } from '../turn/answer-routes.ts';
import { openOwn, standIn, versionGone } from '../token/resolve-program.ts';
import { openSaga, type TokenExpectations } from './open-saga.ts';
import { runTurn } from '../turn/run-turn.ts';
import type { TurnRequest } from '../turn/turn-request.ts';
import { inPlaceOf, openRequest, sealRequest, usableOf } from '../token/sealed-request.ts';
import { roundOf, sealedFor } from '../token/sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { settleTurn } from '../turn/settle-turn.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';

/** Continues a saga from its token: every turn but the first. */
export async function resume(
  settings: HostSettings,
  token: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<SagaTurn> {
  const { traits = {}, goesOnAs } = request;
  // Neither how the request came nor what it brought has anything to do with the turns behind it.
  const own = { traits, ...(goesOnAs === undefined ? {} : { goesOnAs }) };
  const until = settings.clock() + settings.turnBudget;
  const hasTime = (): boolean =>
    settings.clock() < until && !(traits.endsOnAbort === true && caller.signal?.aborted === true);
  const goesOn: TurnRequest['goesOn'] = (outcome) =>
    goesOnHere(outcome, traits, hasTime()) ? outcome.goesOn : undefined;
  let turn = await resumed(settings, token, sent, caller, { ...request, goesOn });
  const { unknown } = turn;
  // What was done is kept now: whoever repeats the request gets here, and not where it is done again. (E1)
  while (turn.status === 'suspended' && turn.goesOn !== undefined) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    turn = await resumed(settings, turn.token, [], caller, { ...own, goesOn }, true);
  }
  const ended = unknown === undefined ? turn : { ...turn, unknown };
  return await sealedAs(settings, request.method, ended);
}

/** A guard repeats a turn as it was sealed, perhaps for the method of another dialect. */
async function sealedAs(
  { guard, sealer }: HostSettings,
  method: string | undefined,
  turn: SagaTurn,
): Promise<SagaTurn> {
  if (method === undefined || guard === undefined || turn.status !== 'suspended') return turn;
  return { ...turn, token: await sealedFor(method, sealer, turn.token) };
}

/** `true` if the host continues by itself, with nothing that it would have to show to the client first. */
function goesOnHere(
  { goesOn, content }: Pick<SuspendedTurn, 'goesOn' | 'content'>,
  { checkpointAfterStep, defersEffects, runs }: DialectTraits,
  hasTime: boolean,
): boolean {
  if (goesOn === undefined || goesOn === 'undo') return goesOn === 'undo';
  if (runs === false || defersEffects === true || !hasTime) return false;
  return content === undefined && (goesOn !== 'step' || checkpointAfterStep !== true);
}

async function resumed(
  settings: HostSettings,
  given: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest & Pick<TurnRequest, 'goesOn'>,
  isOwn: boolean = false,
): Promise<SagaTurn> {
  const { answersField = 'answers', provenance = 'client', traits = {} } = request;
  const isOwnRound = isOwn || request.isOwnRound === true;
  const answers = toAnswers(sent, answersField, provenance, settings.limits.maxAnswers);
  try {
    const { method } = request;
    const { token, purpose } = await (isOwn
      ? ({ token: given, purpose: 'token' } as const)
      : fromHandle(settings, given));
    const opened = isOwn
      ? await openOwn(settings, token)
      : await openSaga(settings, token, caller, { ...(await expected(request)), purpose });
    const { program } = opened;
    const saga = method === undefined ? opened.saga : startedBy(method, opened.saga);
    const isSameMethod = saga.claims.method === opened.saga.claims.method;
    // Repeated answers and those to older generations make no other request of it: only what was asked last counts.
    const ids = stepIdsOf(saga.state.generation);
    const { inner } = ids.fromWire(answers);
    // Of a version that is gone, too: who repeats a request gets what it got, whatever has been deployed since.
    const asked = new Set(standIn(opened).asked(saga.state.program));
    // A question of this saga's may say by itself that it takes them: where none is open, nothing does. (T14)
    const isTaken = asked.size > 0 || acceptsModel({ settings, program: program ?? {} });
    if (provenance === 'model' && answers.size > 0 && !isTaken) {
      throw new SagaHostError(
        'invalid_params',
        `Invalid params: ${answersField}: nothing is asked of the model`,
      );
    }
    reportInstantRefusals(settings, saga, asked, inner);
    const { guard } = settings;
    // What a version that is gone had declared, nobody knows: it is guarded where it can be.
    const isGuarded = guard !== undefined && program?.forks !== 'accept';
    const at = settings.clock();
    const run = async ({
      begun,
      isAwaited = false,
      isBehind = false,
    }: Interrupted = {}): Promise<SagaTurn> => {
      const lost = begun === undefined ? undefined : await openRequest(settings.responses, saga, begun);
      // Another host may treat instant refusals differently, so the answers of an interrupted request are kept as they were taken.
      const own = lost === undefined ? withoutInstantRefusals(settings, saga, answers, at) : answers;
      // What it follows or awaits was begun and never finished: it continues with the answers of that request alone.
      const takesOwn = lost === undefined || (request.follows !== true && !isAwaited);
      const taken = new Map([...(takesOwn ? own : []), ...(lost?.answers ?? [])]);
      const turn = await runTurn(settings, {
        program: standIn(opened, begun !== undefined),
        saga,
        answers: taken,
        heardAt: lost === undefined ? at : lost.at,
        isInterrupted: begun !== undefined || isBehind,
        // Served otherwise, it might take another way than what was lost, and nobody would know what that did.
        caller: lost === undefined ? caller : inPlaceOf(lost, caller),
        tokenBytes: token.length,
        traits: ableToTake(taken, lost?.traits ?? traits),
        isGuarded,
        isOwn: isOwnRound,
        // An interrupted turn may have had effects: its token is used up. This request still needs the token it awaits.
        // A repeated call with a resume token finds its first turn, and from there the others.
        mayStay: isGuarded && !isOwn && isSameMethod && (isAwaited || (lost === undefined && !isBehind)),
        goesOnAs: request.goesOnAs,
        goesOn: request.goesOn,
      });
      return program === undefined && turn.status === 'failed'
        ? { ...turn, error: versionGone(saga, true) }
        : turn;
    };
    if (guard === undefined || !isGuarded) return await settleTurn(settings, await run());
    const news = new Map([...inner].filter(([stepId]) => asked.has(stepId)));
    const digest = await digestOf('resume', news);
    const signal = caller.signal ?? new AbortController().signal;
    const brought = {
      answers: withoutInstantRefusals(settings, saga, news, at),
      traits,
      capabilities: caller.capabilities,
      at,
    };
    const usable = usableOf(ids, brought, settings.limits);
    const claim = {
      action: 'resume',
      digest,
      follows: request.follows === true,
      awaits: true,
      request: await sealRequest(settings.responses, saga, usable, roundOf(saga, isOwnRound)),
      signal,
      ...(isOwn ? {} : { keptBytes: keptBytesOf(settings, saga, token.length) }),
    } as const;
    return await guarded(settings, guard, saga, claim, run);
  } catch (error) {
    if (error instanceof TokenRefused) settings.reject(error.reason);
    throw error;
  }
}

/** No token can record "method not found", so the turn with that answer also runs what replaces the client. */
function ableToTake(answers: ReadonlyMap<string, ClientAnswer>, traits: DialectTraits): DialectTraits {
  if (![...answers.values()].some(isUnsupported)) return traits;
  return { ...traits, runs: true, defersEffects: false };
}

async function expected({ methods, entry }: ResumeRequest): Promise<TokenExpectations> {
  return {
    ...(methods === undefined ? {} : { methods }),
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
