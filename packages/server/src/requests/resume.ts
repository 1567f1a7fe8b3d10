import { isRecord, present } from '@mcp-saga/core/program';
import { digestArguments, TokenRefused } from '@mcp-saga/seal';
import { toAnswers, toArguments, stepIdsOf } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { holderAfterCommit } from '../model/holder.ts';
import { roundsOf } from '../token/sealed-saga.ts';
import { fromHandle } from '../token/handles.ts';
import type { ResumeRequest } from '../model/request-types.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { standIn } from '../token/resolve-program.ts';
import { takeNewest } from './newest-resumption.ts';
import { openSaga, type TokenExpectations } from './open-for-caller.ts';
import { reportInstantRefusals, withoutAnswers, type Resumption } from './resumption.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { openTurn, turnFor } from '../token/saga-of-turn.ts';

/** Continues a saga from its token: every turn after the first. */
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
    /** `true` if one of the turns was the round of this request. */
    let isCounted = false;
    for (;;) {
      const { turn, isCommitted } = await takeNewest(host, current, caller);
      unknown ??= turn.unknown;
      if (!isCommitted || turn.status !== 'suspended') {
        return await sealedAs(
          host,
          request.method,
          unknown === undefined ? turn : { ...turn, unknown },
        );
      }
      // A repeated request continues after the commit, which a queue may have made.
      const next = await committed(host, turn, request);
      isCounted ||= roundsOf(next.saga) > roundsOf(current.saga);
      current = isCounted ? { ...next, holder: holderAfterCommit(next.holder) } : next;
    }
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/** Seals a stored turn for the method of the current dialect. */
async function sealedAs(
  host: HostParts,
  method: string | undefined,
  turn: SagaTurn,
): Promise<SagaTurn> {
  if (method === undefined || host.guard === undefined || turn.status !== 'suspended') return turn;
  return await turnFor(host, method, turn);
}

/** Opens the token of a client, with all checks before the guard. */
async function opened(
  host: HostParts,
  given: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<Resumption> {
  const { answersField = 'answers', provenance = 'client', method, holder } = request;
  const answers = toAnswers(sent, answersField, provenance, host.limits);
  const { token, purpose } = await fromHandle(host, given);
  const found = await openSaga(host, token, caller, {
    purpose,
    ...(await expected(host, request)),
  });
  const saga = method === undefined ? found.saga : startedBy(method, found.saga);
  // Only answers to pending questions identify a request. Repeated answers and answers to older
  // generations do not.
  const { inner } = stepIdsOf(saga.state.generation).fromWire(answers);
  // Applies to removed versions too: a repeated request gets the stored response.
  const asked = new Set(standIn(found).asked(saga.state.program));
  reportInstantRefusals(host, saga, asked, inner);
  return {
    opened: found,
    saga,
    answers,
    news: new Map([...inner].filter(([stepId]) => asked.has(stepId))),
    at: host.timing.clock(),
    askedAt: saga.claims.iat,
    mayStay: saga.claims.method === found.saga.claims.method,
    isBehindCommit: false,
    holder: holder ?? { kind: 'client' },
    request,
  };
}

/** Opens the turn after a commit. The answers of the request belong to the turn before. */
async function committed(
  host: HostParts,
  turn: SuspendedTurn,
  { dialect, holder = { kind: 'client' } }: ResumeRequest,
): Promise<Resumption> {
  return {
    ...withoutAnswers(host, await openTurn(host, turn)),
    mayStay: false,
    isBehindCommit: true,
    holder,
    request: present({ dialect }),
  };
}

async function expected(
  { limits }: Pick<HostParts, 'limits'>,
  { methods, entry }: ResumeRequest,
): Promise<TokenExpectations> {
  return present({
    methods,
    entry: entry && {
      target: entry.target,
      argsDigest: await digestArguments(toArguments(repeated(entry.args), limits)),
    },
  });
}

/** The arguments that a call repeats. Its token and answers have limits of their own. */
function repeated(args: unknown): unknown {
  if (!isRecord(args)) return args;
  const { resumeToken: _token, answers: _answers, ...others } = args;
  return others;
}

/** Assigns a saga to another call with all of its rounds. */
function startedBy(method: string, { claims, state, ...saga }: SealedSaga): SealedSaga {
  return { ...saga, claims: { ...claims, method }, state: { ...state, ownTurns: claims.turn } };
}
