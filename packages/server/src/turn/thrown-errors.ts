import { ClientCannot } from '@mcp-saga/core';
import type { DialectTraits } from '../model/dialect-traits.ts';
import type { TurnFacts } from '../model/hooks.ts';
import type { FailedTurn } from '../model/turn.ts';
import { StepError } from '@mcp-saga/core';
import type { Caller } from '../model/caller.ts';
import { quietly } from '../settings/guarded-hooks.ts';

/** How many are kept for one request: enough to see what goes wrong. */
const most = 100;

// By the caller, who is the same in all turns that one request takes: a turn that fails may be followed by one that undoes,
// and knows no more than the journal does.
const byCaller = new WeakMap<Caller, Map<string, unknown>>();

/** What steps threw while a request was served. It is for the operator: nothing of it is sealed, sent, or seen by a body. */
export interface Thrown {
  /** Notes what a step has failed with. */
  note(path: string, error: unknown): void;
  /** What the undo of a step has failed with, if it was here. */
  ofUndo(stepId: string): unknown;
  /** Adds what steps threw as `cause` to their errors, with the stack. Only of an ended saga: no body may branch on it. */
  reveal(error: unknown): void;
}

/** What was thrown in one saga while a caller was served. */
export function thrownIn(sagaId: string, caller: Caller): Thrown {
  const kept = byCaller.get(caller) ?? new Map<string, unknown>();
  byCaller.set(caller, kept);
  const keyOf = (path: string): string => `${sagaId} ${path}`;
  return {
    note: (path, error) => {
      const key = keyOf(path);
      // A journal's error says less than what it was made of.
      if (error instanceof StepError && kept.has(key)) return;
      kept.delete(key);
      kept.set(key, error);
      if (kept.size > most) kept.delete(kept.keys().next().value as string);
    },
    ofUndo: (stepId) => kept.get(keyOf(`~${stepId}`)),
    // An error may be anything, and so may its getters.
    reveal: (error) =>
      quietly(() => {
        for (let at = error, depth = 0; at instanceof Error && depth < most; at = at.cause, depth += 1) {
          const value = at instanceof StepError ? kept.get(keyOf(at.stepId)) : undefined;
          if (value === undefined || value === at || at.cause !== undefined) continue;
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

/** The error of a question that nobody could be asked, with what there is to say of its client. Its body read none of it. (R2) */
export function explained(error: unknown, { unasked }: DialectTraits): unknown {
  if (unasked === undefined || !(error instanceof ClientCannot) || error.need === 'wait') return error;
  return new ClientCannot(error.stepId, error.need, unasked);
}

/** What failed a turn, and why it could not undo what it leaves behind, as far as this process knows. */
export function failureOf(
  { sagaId, error, residue }: FailedTurn,
  caller: Caller,
): Pick<TurnFacts, 'error' | 'residue'> {
  const thrown = thrownIn(sagaId, caller);
  thrown.reveal(error);
  if (residue.length === 0) return { error };
  return {
    error,
    residue: residue.map((step) => {
      const why = thrown.ofUndo(step.stepId);
      thrown.reveal(why);
      return why === undefined ? step : { ...step, error: why };
    }),
  };
}
