import { TurnAborted } from '@mcp-saga/core';
import type { SagaTurn } from '../model/turn.ts';
import { silentAt, type HostParts } from '../settings/host-parts.ts';
import { advanceFrom, isUntouchedMismatch, type OpenSaga } from '../token/resolve-program.ts';
import { turnRuntime } from './turn-runtime.ts';

// Each look repeats all waits, so it gives up after many.
const maxWaits = 100;

/**
 * Lets time pass for a saga until `until` (ms since the epoch), and runs nothing. Returns how the
 * saga has ended by then, if it only had to wait. Undefined: it waits, it needs a client or a step,
 * or its code does not fit. Deterministic for a state.
 */
export async function endedBy(
  host: HostParts,
  { saga, program }: Pick<OpenSaga, 'saga' | 'program'>,
  until: number,
): Promise<Exclude<SagaTurn['status'], 'suspended'> | undefined> {
  if (program === undefined) return undefined;
  let at = saga.claims.iat;
  let state = saga.state.program;
  for (let waits = 0; waits < maxWaits && at <= until; waits += 1) {
    const runtime = turnRuntime(
      silentAt(host, at),
      { ...quiet, program, saga },
      Number.POSITIVE_INFINITY,
    );
    const outcome = await advanceFrom(program, state, new Map(), runtime);
    if (outcome.status === 'completed') return 'completed';
    if (outcome.status === 'failed') {
      const turn = { saga: program.name, sagaId: saga.sagaId, turn: saga.claims.turn, ...outcome };
      const isOver = !(outcome.error instanceof TurnAborted) && !isUntouchedMismatch(turn, program);
      return isOver ? 'failed' : undefined;
    }
    if (outcome.status === 'continued' || outcome.steps.length > 0) return undefined;
    const { retryAfterMs = 0 } = outcome;
    // A due effect that did not run needs a step.
    if (retryAfterMs <= 0) return undefined;
    at += retryAfterMs;
    state = outcome.state;
  }
  return undefined;
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
