import { TurnAborted, type ReplayMismatch } from '@mcp-saga/core';
import type { Outcome } from '@mcp-saga/core/program';
import { isLeftAsItIs, versionGone, type OpenSaga, advanceFrom } from '../../token/resolve-program.ts';
import type { SagaHostError } from '../../wire/errors.ts';
import { silentAt, type HostParts } from '../../settings/host-parts.ts';
import { turnRuntime } from '../../turn/turn-runtime.ts';
import type { CompletedTurn, FailedTurn } from '../../model/turn.ts';

/** A saga after a time: it waits, it is over, or it needs a client to ask or a step to run. */
export type Elapsed =
  | { readonly status: 'waits'; readonly due: number }
  | { readonly status: 'over'; readonly at: number; readonly turn: CompletedTurn | FailedTurn }
  | { readonly status: 'needs' }
  /** This process cannot continue it now. Nothing was undone. */
  | { readonly status: 'left'; readonly error: ReplayMismatch | SagaHostError };

// A saga that waits more often is kept better in a store: each look at it waits through all of them again.
const maxWaits = 100;

/** Lets time pass for a saga until `until` (ms since the epoch), and runs nothing. Deterministic for a state. */
export async function elapse(
  host: HostParts,
  { saga, program, current }: OpenSaga,
  until: number,
): Promise<Elapsed> {
  if (program === undefined) {
    return current.onMismatch === 'fail' ? { status: 'left', error: versionGone(saga) } : { status: 'needs' };
  }
  let at = saga.claims.iat;
  let { state } = saga;
  for (let waits = 0; waits < maxWaits; waits += 1) {
    const now = at;
    const runtime = {
      ...turnRuntime(silentAt(host, now), { ...quiet, program, saga }, undefined),
      deadline: Number.POSITIVE_INFINITY,
    };
    // oxlint-disable-next-line no-await-in-loop -- one wait comes after the other
    const outcome = await advanceFrom(program, state.program, new Map(), runtime);
    const end = overBy(outcome, saga);
    if (end !== undefined && isLeftAsItIs(end, program)) return { status: 'left', error: end.error };
    if (end !== undefined) return { status: 'over', at, turn: end };
    if (outcome.status !== 'suspended' || outcome.steps.length > 0) return { status: 'needs' };
    const { retryAfterMs = 0 } = outcome;
    // What is due and was not run is something to run.
    if (retryAfterMs <= 0) return { status: 'needs' };
    at += retryAfterMs;
    if (at > until) return { status: 'waits', due: at };
    state = { ...state, program: outcome.state };
  }
  return { status: 'needs' };
}

// Who looks at a saga brings nothing to it: what it comes to is the same for each of them. Whoever could be asked, a
// question is more than a wait.
const quiet = {
  answers: new Map<string, never>(),
  caller: {},
  tokenBytes: 0,
  traits: {
    asks: ['elicitation', 'elicitation.url', 'sampling', 'roots'] as const,
    maxHold: 0,
    defersEffects: true,
  },
};

function overBy(
  outcome: Outcome,
  { claims, sagaId }: OpenSaga['saga'],
): CompletedTurn | FailedTurn | undefined {
  const facts = { saga: claims.saga.name, sagaId, turn: claims.turn + 1 };
  if (outcome.status === 'completed') return { status: 'completed', result: outcome.result, ...facts };
  if (outcome.status !== 'failed' || outcome.error instanceof TurnAborted) return undefined;
  const { error, compensated, residue } = outcome;
  return { status: 'failed', error, compensated, residue, ...facts };
}
