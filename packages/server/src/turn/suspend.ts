import type { Program } from '@mcp-saga/core';
import { present, isSameState, type CommitPoint, type SuspendedOutcome } from '@mcp-saga/core/program';
import { TokenTooLarge } from '@mcp-saga/seal';
import {
  expiryOfLeft,
  expiryOf,
  digestRequestId,
  sealSaga,
  newTokenId,
  sealCancelToken,
  toSealedSaga,
} from '../token/sealed-saga.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import type { HostParts, Observer } from '../settings/host-parts.ts';
import { nextKeptBytes, assertKeepable } from '../token/guard-records.ts';
import type { TurnRequest } from './turn-request.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { withoutKeys } from '../settings/default-log.ts';
import type { SuspendedTurn, SagaTurn } from '../model/turn.ts';
import type { SuspendedSagaFacts } from '../model/hooks.ts';

// Codex cuts a result near 11 KB.
const maxCopiedBytes = 8_000;

/** A suspended turn, and the saga as its token holds it. */
export interface Suspended {
  readonly turn: SuspendedTurn;
  readonly saga: SealedSaga;
}

/** Seals a saga that waits or is committed. Throws `token_too_large`, or `invalid_result` if no guard could keep it. */
export async function suspend(
  host: HostParts,
  request: TurnRequest,
  outcome: SuspendedOutcome | CommitPoint,
): Promise<Suspended> {
  const { program, saga, tokenBytes } = request;
  const { isGuarded = false, isOwn = false, isLeft = false } = request;
  const isCommit = 'reason' in outcome;
  // No client gets this token, and undoing must not fail at the limit of its size.
  const isForGuard = isCommit && outcome.reason === 'undo';
  const { sagaId, claims, state } = saga;
  const iat = host.timing.clock();
  // A token past half of its life is replaced, so that a client that keeps coming always holds a good one.
  const isSame = !isCommit && iat - claims.iat < host.limits.tokenTtlMs / 2 && isUnchanged(request, outcome);
  const turn = isSame ? claims.turn : claims.turn + 1;
  const expiresAt = isLeft
    ? expiryOfLeft(iat, outcome.retryAfterMs ?? Math.max(0, (outcome.due ?? iat) - iat))
    : expiryOf(host, claims, iat, outcome);
  // No client comes for the turn behind a commit.
  const more = (isOwn ? 1 : 0) + (isCommit ? 1 : 0) - (isSame ? 1 : 0);
  const ownTurns = more === 0 ? state.ownTurns : more + (state.ownTurns ?? 0);
  const own = present({ ownTurns });
  const kept = isGuarded ? { keptBytes: nextKeptBytes(host, saga, tokenBytes, outcome) } : {};
  // Not inherited: each request declares for itself.
  const { isResumable = false, requestId: id } = request.traits;
  const requestId = isResumable && id !== undefined ? await digestRequestId(id) : undefined;
  const declared = { isResumable, requestId };
  const next: SealedSaga = isSame
    ? { ...saga, state: { ...state, ...own, ...declared } }
    : {
        sagaId,
        claims: { ...claims, turn, jti: newTokenId(), iat, exp: expiresAt },
        state: { ...state, ...own, ...kept, ...declared, program: outcome.state },
      };
  const token = isForGuard ? await sealSaga(host.keys.responses, next) : await sealed(host, program, next);
  // Once, when it grows over it: to say what is large takes a look at all of it.
  const much = warnedFrom(host, request);
  if (!isForGuard && token.length > much && tokenBytes <= much) {
    host.observer.hooks.onWarning(
      `The token of saga '${claims.saga.name}' has ${token.length} bytes of at most ` +
        `${host.limits.maxTokenBytes}. Largest: ${largest(program, next)}.`,
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
  if (!isSame) await noteCancelOf(host, program, next, suspendedTurn);
  return { turn: suspendedTurn, saga: next };
}

/** `true` if a turn changed nothing and asks the same again. The guard then keeps nothing; the new token counts one more request. */
function isUnchanged({ saga, mayStay = false }: TurnRequest, outcome: SuspendedOutcome): boolean {
  return mayStay && isSameState(saga.state.program, outcome.state);
}

/** Length of a token from which its author is warned. A model that copies it, or its client, cuts long texts. */
function warnedFrom({ limits, offers: { handles } }: HostParts, { traits }: TurnRequest): number {
  const isCopied = traits.asksModel === true && handles === undefined;
  return Math.min(limits.maxTokenBytes / 4, isCopied ? maxCopiedBytes : Number.POSITIVE_INFINITY);
}

async function sealed(host: HostParts, program: TurnRequest['program'], saga: SealedSaga): Promise<string> {
  try {
    return await sealSaga(host.keys.sealer, saga);
  } catch (error) {
    if (!(error instanceof TokenTooLarge)) throw error;
    throw new SagaHostError(
      'token_too_large',
      `The state of saga '${saga.claims.saga.name}' does not fit a token (${error.bytes} bytes, limit ` +
        `${error.limit}). Return references instead of values from steps. Largest: ${largest(program, saga)}.`,
      { cause: error, public: false },
    );
  }
}

function largest(program: Partial<Pick<Program, 'timeline'>>, saga: SealedSaga): string {
  return (program.timeline?.(saga.state.program) ?? [])
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, 3)
    .map(({ kind, path, bytes }) =>
      path === '' ? `${kind} (${bytes})` : `${kind} '${withoutKeys(path)}' (${bytes})`,
    )
    .join(', ');
}

// By the turn: its queue is notified when the turn counts, and not before.
const cancellable = new WeakMap<SuspendedTurn, SuspendedSagaFacts>();

/**
 * Tells a queue of the operator's what has become of a saga, now that the turn counts: under a guard, that is when its
 * response was kept. (E8)
 */
export async function settleTurn({ hooks }: Observer, turn: SagaTurn): Promise<SagaTurn> {
  if (turn.status === 'suspended') {
    const facts = cancellable.get(turn);
    if (facts !== undefined) await hooks.onSuspended(facts);
  } else {
    const { saga, sagaId } = turn;
    await hooks.onSettled({
      saga,
      sagaId,
      residue: turn.status === 'failed' ? turn.residue : [],
    });
  }
  return turn;
}

/** Seals the token by which a queue cancels a saga that waits. A state that no client gets may be larger than others. (E8) */
async function noteCancelOf(
  host: HostParts,
  { forks }: Partial<Pick<Program, 'forks'>>,
  saga: SealedSaga,
  turn: SuspendedTurn,
): Promise<void> {
  if (!host.observer.notifiesSuspended || host.guard === undefined || forks !== 'refuse') return;
  const { cancelToken, cancelAfter } = await sealCancelToken(host.keys.responses, saga);
  const { saga: name, sagaId } = turn;
  cancellable.set(turn, { saga: name, sagaId, turn: turn.turn, cancelToken, cancelAfter });
}

/** The same for a turn that a guard has kept: what cancels it is made again, of its own token. */
export async function noteCancelAgain(host: HostParts, turn: SagaTurn): Promise<void> {
  if (turn.status !== 'suspended' || !host.observer.notifiesSuspended) return;
  const saga = toSealedSaga(
    await host.keys.responses.open(turn.token, {
      purpose: 'token',
      sid: turn.sagaId,
      ignoreExpiry: true,
      allowFuture: true,
    }),
  );
  const { name, version } = saga.claims.saga;
  const program = host.registry.version(name, version, host.timing.clock());
  await noteCancelOf(host, program ?? { forks: 'refuse' }, saga, turn);
}
