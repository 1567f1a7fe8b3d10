import type { Json, SampleResult, StepContext } from '@mcp-saga/server';

/** Steps with any IDs and values. */
export type AnySteps = Record<string, unknown>;

/** A question, for a function that answers it. */
export interface Question {
  /** Path of the step that asks. */
  readonly id: string;
  /** Text for the user or the model. */
  readonly message: string;
  /** The parameters of the MCP request. */
  readonly params: { readonly [key: string]: Json };
  /** Number of earlier times that the question was asked in this run. */
  readonly before: number;
  /** Reason why it is asked again. */
  readonly reason: string | undefined;
}

type Fields = { readonly [key: string]: unknown };

/** Content of a form, or a function of the question. Promises are awaited. */
export type Answer<T> = unknown extends T
  ? Fields | ((question: Question) => Fields | PromiseLike<Fields>)
  : T | ((question: Question) => T | PromiseLike<T>);

/** Answer of a model: text, result, or a function of the question. */
export type Sample = string | SampleResult | ((question: Question) => string | SampleResult);

/** Context of a stand-in for a step: that of the step, and a sleep by the clock of the run. */
export interface StandInContext extends Omit<StepContext<unknown>, 'context' | 'input'> {
  readonly context: unknown;
  // oxlint-disable-next-line typescript/no-explicit-any -- what the step is given, which nobody here knows
  readonly input: any;
  /** Idempotency key of the step to undo, in an undo. */
  readonly stepKey?: string;
  /** Sleeps by the clock of the run. Throws when the step is aborted. */
  readonly sleep: (ms: number) => Promise<void>;
}

type Value = string | number | boolean | bigint | object | null | undefined;

/** Stand-in for a step: its result, or a function that replaces its code. */
export type StandIn<T> = unknown extends T
  ? Value | ((step: StandInContext) => Value | PromiseLike<Value> | void)
  : T | ((step: StandInContext) => T | PromiseLike<T>);
