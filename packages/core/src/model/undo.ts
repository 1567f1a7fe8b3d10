import type { RetryPolicy } from '../values/retry.ts';
import type { InferInput, Schema } from '../values/standard-schema.ts';
import type { Context } from './context.ts';

/** What an undo gets to know and to work with. */
export interface UndoContext<R, I> {
  /** What the step returned, as the journal has it. */
  readonly result: R;
  /** The step's `input`. */
  readonly input: I;
  /** The idempotency key the step ran with: by it a provider finds what the step did. */
  readonly stepKey: string;
  /** The key of this undo: another one than the step's, and the same on every attempt, fork and rotation. */
  readonly idempotencyKey: string;
  /** What the host's caller gave this request. */
  readonly context: Context;
  /** Aborts with the request and on the undo's timeout. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
}

/** What a step was given and what it returned: what the arguments of a named compensator are made of. */
export type UndoFacts<R, I> = Pick<UndoContext<R, I>, 'result' | 'input'>;

/**
 * Undoes a step: a function, or a generator whose server steps are journaled. A generator itself sees only `result`, `input`,
 * and `stepKey`; the rest throws outside of its steps.
 */
export type UndoFunction<R, I> = (undo: UndoContext<R, I>) => unknown;

/** How an undo is run. */
export interface UndoPolicy {
  /** Attempts, or a policy. Default: three attempts. */
  readonly retry?: RetryPolicy | number;
  /** Milliseconds for one attempt. Default: none. */
  readonly timeoutMs?: number;
}

/** A step that was undone, or one that could not be: its id, and the label its author gave it. */
export interface UndoneStep {
  readonly stepId: string;
  readonly label?: string;
}

/** A named undo with its arguments, as it is sealed: it runs even when the code that registered it is gone. */
export interface BoundUndo {
  readonly name: string;
  readonly args: unknown;
  readonly run: (undo: never) => unknown;
}

/** What a named compensator gets to work with. */
export type CompensatorContext<A> = Omit<UndoContext<never, never>, 'result' | 'input'> & {
  readonly args: A;
};

/** An undo made of facts about its step. */
export interface BoundCompensator<R, I> {
  readonly name: string;
  /** Runs it with arguments as they were sealed. */
  readonly run: BoundUndo['run'];
  /** The undo with its arguments, made when the step is done. */
  bind(facts: UndoFacts<R, I>): BoundUndo;
}

/** A named undo with sealed arguments, which runs even if the saga's code changed or is gone. List it in the host's `compensators`. */
export interface Compensator<S extends Schema> {
  readonly name: string;
  /** The undo for `compensate(…)`, with these arguments. */
  with(args: InferInput<S>): BoundUndo;
  /** The undo for a step's `compensate`, with arguments made of its result and input. */
  for<R, I>(toArgs: (facts: UndoFacts<R, I>) => InferInput<S>): BoundCompensator<R, I>;
  /** Runs it with arguments as they were sealed. */
  run(undo: CompensatorContext<unknown>): Promise<void>;
}
