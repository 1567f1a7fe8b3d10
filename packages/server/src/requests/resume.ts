/**
 * Requests of a host. `start.ts` begins a saga, `resume.ts` opens a token and goes on, `cancel.ts`
 * ends a saga, and `status.ts` reads one. `host.ts` gives each of them the parts of the host.
 *
 * 1. The token is opened, and its claims are compared with the request and the caller
 *    (`open-for-caller.ts`).
 * 2. The answers that fit open questions identify the request: the same answers are the same
 *    request.
 * 3. `drive` takes the turn, and the turns behind it, up to the newest one (`drive.ts`).
 *
 * - All checks come before the claim: a request that is refused has used nothing.
 */
import { isRecord, present, engineOf } from '@mcp-saga/core/program';
import { digestArguments, TokenRefused } from '@mcp-saga/seal';
import { toAnswers, toArguments, stepIdsOf } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { fromHandle } from '../token/handles.ts';
import type { ResumeRequest } from '../model/request-types.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { standIn } from '../token/resolve-program.ts';
import { drive } from './drive.ts';
import { openSaga, type TokenExpectations } from './open-for-caller.ts';
import { requestWithoutAnswers, type RequestedTurn } from './requested-turn.ts';

/** Continues a saga from its token: every turn after the first. */
export async function resume(
  host: HostParts,
  token: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<SagaTurn> {
  try {
    const taken = await drive(host, await opened(host, token, sent, caller, request), caller);
    // No client gets the token of a committed turn.
    if (taken.isCommitted && taken.isUsed === true) throw new TokenRefused('used');
    return taken.turn;
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/** Opens the token of a client, with all checks before the guard. */
async function opened(
  host: HostParts,
  given: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<RequestedTurn> {
  const { answersField = 'answers', provenance = 'client', method, follows = false } = request;
  const { holder = { kind: 'client' }, dialect = {} } = request;
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
  const asked = new Set(engineOf(standIn(found)).asked(saga.state.program));
  const news = new Map([...inner].filter(([stepId]) => asked.has(stepId)));
  const requested = requestWithoutAnswers(host, { ...found, saga }, { holder, dialect });
  const afterMs = requested.at - saga.claims.iat;
  return {
    ...requested,
    intent: { kind: 'answer', answers, news, afterMs },
    follows,
    method,
    mayStay: saga.claims.method === found.saga.claims.method,
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
