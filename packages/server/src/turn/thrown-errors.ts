import { ClientCannot, StepError } from '@mcp-saga/core';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { TurnFacts } from '../model/hooks.ts';
import type { FailedTurn } from '../model/turn.ts';
import type { Caller } from '../model/caller.ts';
import { quietly } from '../settings/observer-hooks.ts';

/** Maximum number of kept errors of a request. */
const most = 100;

// By caller: all turns of a request have the same caller, and a failed turn may precede the turn
// with the compensation.
const byCaller = new WeakMap<Caller, Map<string, unknown>>();

/** Errors of steps during a request, for the operator. Never sealed, sent, or seen by a body. */
export interface Thrown {
  /** Records the error of a step. */
  note(path: string, error: unknown): void;
  /** Returns the error of the undo of a step, if the undo failed in this process. */
  ofUndo(stepId: string): unknown;
  /**
   * Adds the original errors as `cause`, with stacks. Only after the end of a saga, so that no body
   * depends on a cause.
   */
  reveal(error: unknown): void;
}

/** Returns the errors of a saga during the request of a caller. */
export function thrownIn(sagaId: string, caller: Caller): Thrown {
  const kept = byCaller.get(caller) ?? new Map<string, unknown>();
  byCaller.set(caller, kept);
  const keyOf = (path: string): string => `${sagaId} ${path}`;
  return {
    note: (path, error) => {
      const key = keyOf(path);
      // The journal keeps only a part of an error.
      if (error instanceof StepError && kept.has(key)) return;
      kept.delete(key);
      kept.set(key, error);
      if (kept.size > most) kept.delete(kept.keys().next().value as string);
    },
    ofUndo: (stepId) => kept.get(keyOf(`~${stepId}`)),
    // A getter of the error threw.
    reveal: (error) =>
      quietly(() => {
        for (
          let at = error, depth = 0;
          at instanceof Error && depth < most;
          at = at.cause, depth += 1
        ) {
          const value = at instanceof StepError ? kept.get(keyOf(at.stepId)) : undefined;
          // The journal kept a bounded copy of the cause. The operator gets the original error.
          if (value === undefined || value === at) continue;
          Reflect.defineProperty(at, 'cause', {
            value,
            enumerable: false,
            configurable: true,
            writable: true,
          });
        }
      }),
  };
}

/**
 * Error of an unanswerable question, with advice about the client. Bodies do not see the advice.
 */
export function explained(error: unknown, { unasked }: DialectCapabilities): unknown {
  if (unasked === undefined || !(error instanceof ClientCannot) || error.need === 'wait')
    return error;
  return new ClientCannot(error.stepId, error.need, unasked);
}

/**
 * Errors that failed a turn, and the reasons of uncompensated steps, as far as this process knows.
 */
export function failureOf(
  { sagaId, error, uncompensated }: FailedTurn,
  caller: Caller,
): Pick<TurnFacts, 'error' | 'uncompensated'> {
  const thrown = thrownIn(sagaId, caller);
  thrown.reveal(error);
  if (uncompensated.length === 0) return { error };
  return {
    error,
    uncompensated: uncompensated.map((step) => {
      const why = thrown.ofUndo(step.stepId);
      thrown.reveal(why);
      return why === undefined ? step : { ...step, error: why };
    }),
  };
}
