import {
  errorLink,
  present,
  isSameState,
  type CommitPoint,
  type SuspendedOutcome,
  sealedBytes,
  withoutKeys,
  engineOf,
  type Runnable,
} from '@mcp-saga/core/program';
import { createTokenId, TokenTooLarge } from '@mcp-saga/seal';
import { abandonedExpiry, expiryOf, digestRequestId, sealSaga } from '../token/sealed-saga.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { nextKeptBytes, assertKeepable } from '../token/guard-records.ts';
import type { TurnRequest } from './turn-request.ts';
import { noteSuspended } from './settle.ts';
import { isOwnTurn, resumableOf, type Holder } from '../model/holder.ts';
import type { SagaState, SealedSaga } from '../model/sealed-saga.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import { noteSaga } from '../token/saga-of-turn.ts';

// Codex cuts a result near 11 KB.
const maxCopiedBytes = 8_000;

/** Suspended turn, and the saga in its token. */
export interface Suspended {
  readonly turn: SuspendedTurn;
  readonly saga: SealedSaga;
}

/**
 * Seals a suspended or committed saga. Throws `token_too_large`, or `invalid_result` if the turn is
 * too large for a guard.
 */
export async function suspend(
  host: HostParts,
  request: TurnRequest,
  isGuarded: boolean,
  outcome: SuspendedOutcome | CommitPoint,
): Promise<Suspended> {
  const { program, saga, holder } = request;
  const isWoken = holder.kind === 'queue';
  const isCommit = 'reason' in outcome;
  const isVital = isCommit && outcome.reason === 'vital';
  // No client gets this token, so its size has no limit: compensation must not fail for it.
  const isForGuard = isVital || (isCommit && outcome.reason === 'undo');
  const { sagaId, claims, state } = saga;
  const iat = host.timing.clock();
  // Replaced after half of its lifetime, so that an active client always has a good token.
  const isYoung = isWoken || iat - claims.iat < host.limits.tokenTtl / 2;
  const isSame = isGuarded && !isCommit && isYoung && isUnchanged(request, outcome);
  const turn = isSame ? claims.turn : claims.turn + 1;
  const expiresAt =
    holder.kind === 'nobody'
      ? abandonedExpiry(iat, outcome.retryAfterMs ?? Math.max(0, (outcome.due ?? iat) - iat))
      : Math.max(expiryOf(host, claims, iat, outcome), isWoken ? claims.exp : 0);
  // A repeated request that changes nothing is a further round of the client.
  const more = (isOwnTurn(holder) ? 1 : 0) - (isSame ? 1 : 0);
  const ownTurns = more === 0 ? state.ownTurns : more + (state.ownTurns ?? 0);
  const own = present({ ownTurns });
  const isKept = isGuarded || host.offers.handles !== undefined;
  const kept = isKept ? { keptBytes: nextKeptBytes(host, saga, outcome) } : {};
  // A queue acts for the client of the turn before.
  const declared = isWoken ? {} : { requestId: await digestIdOf(holder) };
  const next: SealedSaga = isSame
    ? { ...saga, state: { ...state, ...own, ...declared } }
    : {
        tokenBytes: 0,
        sagaId,
        claims: { ...claims, turn, jti: createTokenId(), iat, exp: expiresAt },
        state: Object.assign({}, state, own, kept, declared, {
          program: outcome.state,
          hasPages: state.hasPages ?? (isCommit ? undefined : outcome.hasPage),
          undoes: (isCommit ? outcome.reason === 'undo' : outcome.undoes === true) || undefined,
        }),
        ...(isCommit ? { grown: saga.grown ?? { structure: {}, client: {} } } : {}),
      };
  const token = isForGuard
    ? await sealSaga(host.keys.responses, next)
    : await sealed(host, program, next, isCommit ? 0 : (outcome.reserves ?? 0));
  // Warns once, because the search for large entries reads the whole journal.
  const much = warnedFrom(host, request);
  if (!isForGuard && token.length > much && saga.tokenBytes <= much) {
    host.observer.hooks.onWarning(
      `The token of saga '${claims.saga.name}' has ${token.length} bytes of at most ` +
        `${host.limits.maxTokenBytes}. Largest: ${largest(program, next)}. See ${errorLink('token_too_large')}`,
    );
  }
  const { steps } = outcome;
  const content = isCommit ? undefined : outcome.content;
  if (isGuarded) assertKeepable('what it asks has', { steps, content: content ?? [] });
  const ids = stepIdsOf(state.generation);
  const suspendedTurn: SuspendedTurn = {
    status: 'suspended',
    token,
    steps: outcome.steps.map((step) => ({ ...step, stepId: ids.toWire(step.stepId) })),
    expiresAt: next.claims.exp,
    ...present({ retryAfterMs: outcome.retryAfterMs }),
    ...own,
    ...present({ due: outcome.due, content, hasPage: outcome.hasPage }),
    saga: claims.saga.name,
    sagaId,
    turn,
  };
  const from = { now: iat, isCommit, isVital, isWoken };
  noteSuspended(host, program, next, suspendedTurn, clientOf(request), from);
  const sealedSaga = { ...next, tokenBytes: token.length };
  noteSaga(suspendedTurn, sealedSaga);
  return { turn: suspendedTurn, saga: sealedSaga };
}

function clientOf({
  caller: { capabilities },
  dialect,
}: TurnRequest): Parameters<typeof noteSuspended>[4] {
  return { capabilities, dialect };
}

/** Digest of the ID of a resumable request. Each request of the client declares for itself. */
async function digestIdOf(holder: Holder): Promise<SagaState['requestId']> {
  const resumable = resumableOf(holder);
  return resumable && (await digestRequestId(resumable.id));
}

/**
 * `true` if a turn changed nothing and asks the same again. The guard then keeps nothing; the new
 * token counts one more request.
 */
function isUnchanged({ saga, mayStay = false }: TurnRequest, outcome: SuspendedOutcome): boolean {
  return mayStay && isSameState(saga.state.program, outcome.state);
}

/**
 * Length of a token that leads to a warning. Models and their clients cut long texts, and the result
 * of a tool with an output shows the token twice: as text, and as structured content.
 */
function warnedFrom(
  { limits, offers: { handles } }: HostParts,
  { dialect, program }: TurnRequest,
): number {
  const isCopied = dialect.asksModel === true && handles === undefined;
  const copied = program.output === undefined ? maxCopiedBytes : maxCopiedBytes / 2;
  return Math.min(limits.maxTokenBytes / 4, isCopied ? copied : Number.POSITIVE_INFINITY);
}

/**
 * Seals a saga into a token that has room for the answers that it waits for. Otherwise the saga
 * ends here, before anybody is told that an answer was accepted.
 */
async function sealed(
  host: HostParts,
  program: TurnRequest['program'],
  saga: SealedSaga,
  reserves: number,
): Promise<string> {
  const { maxTokenBytes } = host.limits;
  try {
    const token = await sealSaga(host.keys.sealer, saga);
    const needed = token.length + sealedBytes(reserves);
    if (needed > maxTokenBytes) throw new TokenTooLarge('token', needed, maxTokenBytes);
    return token;
  } catch (error) {
    if (!(error instanceof TokenTooLarge)) throw error;
    // Compressed as a whole, the streams are smaller.
    if (saga.grown !== undefined)
      return await sealed(host, program, { ...saga, grown: undefined }, reserves);
    const answers = reserves === 0 ? '' : `, ${sealedBytes(reserves)} of them for answers`;
    throw new SagaHostError(
      'token_too_large',
      `The state of saga '${saga.claims.saga.name}' does not fit a token (${error.bytes} bytes${answers}, limit ` +
        `${error.limit}). Return references instead of values from steps. Largest: ${largest(program, saga)}.`,
      { cause: error, public: false },
    );
  }
}

/**
 * Names the steps with the most bytes. The runs of a step in a loop count together, because none of
 * them may be large by itself.
 */
function largest(program: Runnable, saga: SealedSaga): string {
  const sums = new Map<string, { bytes: number; count: number }>();
  for (const { kind, path, bytes } of engineOf(program).timeline(saga.state.program)) {
    const step = withoutKeys(path).replaceAll(/#\d+/g, '');
    const name = step === '' ? kind : `${kind} '${step}'`;
    const sum = sums.get(name) ?? { bytes: 0, count: 0 };
    sums.set(name, { bytes: sum.bytes + bytes, count: sum.count + 1 });
  }
  return [...sums]
    .toSorted(([, one], [, other]) => other.bytes - one.bytes)
    .slice(0, 3)
    .map(([name, { bytes, count }]) => `${name} (${count === 1 ? '' : `${count} times, `}${bytes})`)
    .join(', ');
}
