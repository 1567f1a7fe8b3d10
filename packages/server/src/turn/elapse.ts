import { TurnAborted, type Program, type ReplayMismatch } from '@mcp-saga/core';
import { completedBy } from '../wire/saga-result.ts';
import type { Outcome } from '@mcp-saga/core/program';
import {
  isUntouchedMismatch,
  versionGone,
  type OpenSaga,
  advanceFrom,
} from '../token/resolve-program.ts';
import type { SagaHostError } from '../wire/errors.ts';
import { silentAt, type HostParts } from '../settings/host-parts.ts';
import { turnRuntime } from './turn-runtime.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';

/** Saga after some time: it waits, has ended, or needs a client or a step. */
export type Elapsed =
  | { readonly status: 'waits'; readonly due: number }
  | { readonly status: 'over'; readonly at: number; readonly turn: CompletedTurn | FailedTurn }
  | { readonly status: 'needs' }
  /** This process cannot continue the saga now. Nothing was undone. */
  | { readonly status: 'unavailable'; readonly error: ReplayMismatch | SagaHostError };

// Each look repeats all waits, so a saga with more waits needs a store.
const maxWaits = 100;

/**
 * Lets time pass for a saga until `until` (ms since the epoch), and runs nothing. Deterministic for
 * a state.
 */
export async function elapse(
  host: HostParts,
  { saga, program, current }: OpenSaga,
  until: number,
): Promise<Elapsed> {
  if (program === undefined) {
    return current.onMismatch === 'fail'
      ? { status: 'unavailable', error: versionGone(saga) }
      : { status: 'needs' };
  }
  let at = saga.claims.iat;
  let { state } = saga;
  for (let waits = 0; waits < maxWaits; waits += 1) {
    const now = at;
    const runtime = turnRuntime(
      silentAt(host, now),
      { ...quiet, program, saga },
      Number.POSITIVE_INFINITY,
    );
    const outcome = await advanceFrom(program, state.program, new Map(), runtime);
    const end = overBy(outcome, saga, program);
    if (end !== undefined && isUntouchedMismatch(end, program))
      return { status: 'unavailable', error: end.error };
    if (end !== undefined) return { status: 'over', at, turn: end };
    if (outcome.status !== 'suspended' || outcome.steps.length > 0) return { status: 'needs' };
    const { retryAfterMs = 0 } = outcome;
    // A due effect that did not run needs a step.
    if (retryAfterMs <= 0) return { status: 'needs' };
    at += retryAfterMs;
    if (at > until) return { status: 'waits', due: at };
    state = { ...state, program: outcome.state };
  }
  return { status: 'needs' };
}

// The same for all callers: any question needs a client.
const quiet = {
  intent: { kind: 'answer', answers: new Map<string, never>() },
  caller: {},
  holder: { kind: 'client' },
  // Nothing runs.
  services: undefined as never,
  dialect: {
    asks: ['elicitation', 'elicitation.url', 'sampling', 'sampling.tools', 'roots'] as const,
    maxHold: 0,
    effects: 'later',
  },
} as const;

function overBy(
  outcome: Outcome,
  { claims, sagaId }: OpenSaga['saga'],
  program: Program,
): CompletedTurn | FailedTurn | undefined {
  const facts = { saga: claims.saga.name, sagaId, turn: claims.turn + 1 };
  if (outcome.status === 'completed') return { ...completedBy(program, outcome.result), ...facts };
  if (outcome.status !== 'failed' || outcome.error instanceof TurnAborted) return undefined;
  const { error, compensated, uncompensated } = outcome;
  return { status: 'failed', error, compensated, uncompensated, ...facts };
}
