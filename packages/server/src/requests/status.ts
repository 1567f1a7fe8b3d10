import { engineOf } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import type { Program } from '@mcp-saga/core';
import { askGuard, claimOf, digestOf } from '../guard/ask-guard.ts';
import type { Caller } from '../model/caller.ts';
import type { GuardVerdict } from '../model/guard.ts';
import type { StatusRequest } from '../model/request-types.ts';
import type { SagaTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { openResponse } from '../token/guard-records.ts';
import { fromHandle } from '../token/handles.ts';
import { standIn, type OpenSaga } from '../token/resolve-program.ts';
import { roundOf } from '../token/sealed-saga.ts';
import { endedBy } from '../turn/elapse.ts';
import { assertRate, openForCaller } from './open-for-caller.ts';
import { openTurn, type TokenOfTurn } from '../token/saga-of-turn.ts';

/** Facts about the saga of a token, for callers with access. */
export interface SagaStatus {
  readonly sagaId: string;
  /** Saga of the call. The current saga may be another one, after `continueAs`. */
  readonly saga: Program;
  /**
   * Digest of the JSON-RPC ID of the resumable request. Undefined if `requests/resume` does not
   * accept the token: its client did not declare resumable requests.
   */
  readonly requestId: string | undefined;
  /**
   * Looks how far the saga is. Replays the saga, and runs nothing.
   * @param running - newest token of a request that runs the saga in this process
   * @throws SagaHostError `rate_limited`
   */
  readonly look: (running?: TokenOfTurn) => Promise<SagaProgress>;
}

/** Progress of a saga in its newest turn. */
export interface SagaProgress {
  /**
   * `completed` or `failed`: the saga has ended, or would end in its next turn, without a step or
   * an answer.
   */
  readonly state: 'processing' | 'completed' | 'failed';
  /** `true` if the saga waits for an answer of its client. */
  readonly isAsking: boolean;
}

/** Reads facts about a saga. Replays and runs nothing, so no rate limit applies. */
export async function statusOf(
  host: HostParts,
  token: string,
  caller: Caller,
  request: StatusRequest,
): Promise<SagaStatus> {
  try {
    const { token: sealed, purpose } = await fromHandle(host, token);
    const opened = await openForCaller(host, sealed, caller, { ...request, purpose });
    const { claims, state, sagaId } = opened.saga;
    return {
      sagaId,
      saga: host.registry.named(claims.entry.target) ?? opened.current,
      requestId: state.requestId,
      look: async (running) => {
        await assertRate(host, opened);
        return running === undefined
          ? await progressOf(host, opened)
          : await progressOfRunning(host, running);
      },
    };
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

async function progressOf(host: HostParts, opened: OpenSaga): Promise<SagaProgress> {
  const newest = await newestOf(host, opened);
  if ('status' in newest)
    return { state: newest.status === 'completed' ? 'completed' : 'failed', isAsking: false };
  const isAsking = engineOf(standIn(newest)).asked(newest.saga.state.program).length > 0;
  if (newest.program === undefined) {
    const fails = newest.current.onMismatch === 'compensate';
    return { state: fails ? 'failed' : 'processing', isAsking };
  }
  const end = await endedBy(host, newest, host.timing.clock());
  return end === undefined ? { state: 'processing', isAsking } : { state: end, isAsking: false };
}

/**
 * Returns the progress of a saga that a request of this process runs. The guard is not asked: its
 * lease may have expired during a long step, and a claim would take the turn from the live request.
 */
async function progressOfRunning(host: HostParts, turn: TokenOfTurn): Promise<SagaProgress> {
  const newest = await openTurn(host, turn);
  const isAsking = engineOf(standIn(newest)).asked(newest.saga.state.program).length > 0;
  return { state: 'processing', isAsking };
}

/** Finds the newest turn that a guard has stored, or how the saga ended. */
async function newestOf(
  host: HostParts,
  opened: OpenSaga,
): Promise<OpenSaga | Exclude<SagaTurn, { readonly status: 'suspended' }>> {
  for (let newest = opened; ;) {
    const response = await responseOf(host, newest);
    if (response === undefined) return newest;
    const { turn } = await openResponse(host, newest.saga, response);
    if (turn.status !== 'suspended') return turn;
    newest = await openTurn(host, turn);
  }
}

/**
 * Response of the turn of a token. Undefined if no request has used the token, or a request runs.
 *
 * A guard answers only claims, so this claims the turn, and gives it back at once. Any other
 * request for the turn waits for this as for a running one.
 */
async function responseOf(
  host: HostParts,
  opened: OpenSaga,
): Promise<Extract<GuardVerdict, { response: unknown }> | undefined> {
  const { guard, observer, timing } = host;
  const { saga, program } = opened;
  if (guard === undefined || program?.reuse === 'ok') return undefined;
  const claim = await claimOf(host, saga, {
    action: 'resume',
    digest: await digestOf('resume', new Map()),
    follows: true,
    // If this process dies now, the next request repeats a turn that runs nothing.
    brought: {
      answers: new Map(),
      dialect: { effects: 'never' },
      capabilities: undefined,
      at: timing.clock(),
    },
    round: roundOf(saga, { kind: 'nobody' }),
  });
  const verdict: GuardVerdict = await askGuard(observer, () =>
    guard.turns.begin({ now: timing.clock(), ...claim }),
  );
  if (typeof verdict === 'string') return undefined;
  if ('response' in verdict) return verdict;
  await askGuard(observer, () => guard.turns.forget(verdict.run));
  return undefined;
}
