import type { Duration } from '../values/duration.ts';
import type { RetryPolicy } from '../values/retry.ts';
import type { InferInput, Schema } from '../values/standard-schema.ts';
import type { RequestUser, Services } from './register.ts';

/** Context of the undo of a step that was done. */
export interface UndoContext<R, I> {
  /** The step was done: its result is known. */
  readonly outcome: 'done';
  /** Result of the step, as recorded in the journal. */
  readonly result: R;
  /** The step's `input`. */
  readonly input: I;
  /** Idempotency key of the step, by which a provider finds the effect of the step. */
  readonly stepKey: string;
  /**
   * Idempotency key of the undo: the same for every attempt, fork, and key rotation, and different
   * from the step's.
   */
  readonly idempotencyKey: string;
  /** Services of the process. */
  readonly services: Services;
  /** User of the request that runs the undo; undefined without one, as after an abandoned call. */
  readonly user: RequestUser;
  /** Aborts with the request and on the undo's timeout. */
  readonly signal: AbortSignal;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/**
 * Context of the undo of a step that may have been done: it timed out, its response was lost, or
 * its process died. Only the provider knows, by the `stepKey`.
 */
export interface UnknownUndoContext<I> extends Omit<UndoContext<unknown, I>, 'outcome' | 'result'> {
  /** Nobody knows whether the step was done. */
  readonly outcome: 'unknown';
  /** There is no result. */
  readonly result?: undefined;
}

/**
 * What happens with a step whose outcome is unknown: `report` names it as not undone, `compensate`
 * undoes it.
 */
export type WhenUnknown = 'report' | 'compensate';

/** Outcome, result, and input of a step, for the arguments of a named compensator. */
export type UndoFacts<R, I, When extends WhenUnknown = 'report'> =
  | Pick<UndoContext<R, I>, 'outcome' | 'result' | 'input'>
  | ('compensate' extends When
      ? Pick<UnknownUndoContext<I>, 'outcome' | 'result' | 'input'>
      : never);

/**
 * Undoes a step: a function, or a generator whose server steps are journaled. A generator reads
 * only `outcome`, `result`, `input`, and `stepKey` directly; the other fields throw outside of
 * server steps.
 */
export type UndoFunction<R, I, When extends WhenUnknown = 'report'> = (
  undo: UndoContext<R, I> | ('compensate' extends When ? UnknownUndoContext<I> : never),
) => unknown;

/** Retries and timeout of an undo. */
export interface UndoPolicy {
  /** Attempts, or a policy. Default: three attempts. */
  readonly retry?: RetryPolicy | number;
  /** Time for one attempt. Default: none. */
  readonly timeout?: Duration;
}

/** A step that was undone, or could not be undone: its ID, and the author's label. */
export interface UndoneStep {
  readonly stepId: string;
  readonly label?: string;
}

/** A named undo with sealed arguments, which runs even if the code of its step is gone. */
export interface BoundUndo {
  readonly name: string;
  readonly args: unknown;
  readonly run: (undo: never) => unknown;
}

/** Context of a named compensator. */
export type CompensatorContext<A> = Omit<
  UndoContext<never, never>,
  'outcome' | 'result' | 'input'
> & {
  readonly args: A;
};

/** A named undo without arguments, for the `compensate` of a step. */
export interface BoundCompensator<R, I, When extends WhenUnknown = 'report'> {
  readonly name: string;
  /** Runs the undo with sealed arguments. */
  readonly run: BoundUndo['run'];
  /** Adds the arguments, when the step is done. */
  bind(facts: UndoFacts<R, I, When>): BoundUndo;
  /** For the compiler: whether the arguments are made for an unknown outcome, too. */
  readonly unknown?: When;
}

/**
 * A named undo that runs even if the saga's code changed or is gone. List each one in the host's
 * `compensators`.
 */
export interface Compensator<S extends Schema> {
  readonly name: string;
  /**
   * Makes the undo for a step's `compensate`, with arguments from the outcome, result, and input of
   * the step.
   */
  for<R, I, When extends WhenUnknown = 'report'>(
    toArgs: (facts: UndoFacts<R, I, When>) => InferInput<S>,
  ): BoundCompensator<R, I, When>;
  /** Runs the undo with sealed arguments. */
  run(undo: CompensatorContext<unknown>): Promise<void>;
}
