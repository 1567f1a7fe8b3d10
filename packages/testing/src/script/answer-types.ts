import type { Json, SampleResult, StepContext } from '@mcp-saga/server';

/** Steps whose ids and values were not named: any id, any value. */
export type AnySteps = Record<string, unknown>;

/** A question as a function that answers it gets it. */
export interface Question {
  /** The path of the step that asks. */
  readonly id: string;
  /** What the user or the model reads. */
  readonly message: string;
  /** The parameters of the MCP request. */
  readonly params: { readonly [key: string]: Json };
  /** How often this question was asked before, in this run. */
  readonly before: number;
  /** Why it is asked again, where an answer was not accepted. */
  readonly reason: string | undefined;
}

type Fields = { readonly [key: string]: unknown };

/** The content of a form, or a function of the question; promises are awaited. */
export type Answer<T> = unknown extends T
  ? Fields | ((question: Question) => Fields | PromiseLike<Fields>)
  : T | ((question: Question) => T | PromiseLike<T>);

/** What a model says: a text, a whole result, or a function of the question. */
export type Sample = string | SampleResult | ((question: Question) => string | SampleResult);

/** What a function gets that stands in for a step: what the step's own would get, and a sleep by the clock of the run. */
export interface StandInContext extends Omit<StepContext<unknown>, 'context' | 'input'> {
  readonly context: unknown;
  // oxlint-disable-next-line typescript/no-explicit-any -- what the step is given, which nobody here knows
  readonly input: any;
  /** Of an undo: the idempotency key of the step it undoes. */
  readonly stepKey?: string;
  /** Sleeps by the clock of the run; throws when the step is aborted. */
  readonly sleep: (ms: number) => Promise<void>;
}

type Value = string | number | boolean | bigint | object | null | undefined;

/** What stands in for a step: its result, or a function that is run in its place. */
export type StandIn<T> = unknown extends T
  ? Value | ((step: StandInContext) => Value | PromiseLike<Value> | void)
  : T | ((step: StandInContext) => T | PromiseLike<T>);
