import type { Duration, Json, SampleAnswer, StepContext } from '@mcp-saga/server';

/** Steps with any IDs and values. */
export type AnySteps = Record<string, unknown>;

/** Question, for an answering function. */
export interface Question {
  /** Path of the step that asks. */
  readonly id: string;
  /** Text for the user or the model. */
  readonly message: string;
  /** The parameters of the MCP request. */
  readonly params: { readonly [key: string]: Json };
  /** Number of earlier times of the question in this run. */
  readonly before: number;
  /** Reason for the repetition. */
  readonly reason: string | undefined;
}

type Fields = { readonly [key: string]: unknown };

/** Refusal of a question. */
type Refusal = 'decline' | 'cancel';

/**
 * Content of a form, or a function of the question, which may also refuse. Promises are awaited.
 */
export type Answer<T> = unknown extends T
  ? Fields | ((question: Question) => Fields | Refusal | PromiseLike<Fields | Refusal>)
  : T | ((question: Question) => T | Refusal | PromiseLike<T | Refusal>);

/** Answer of a model: text, MCP's result, or a function of the question. */
export type Sample = string | SampleAnswer | ((question: Question) => string | SampleAnswer);

/** Context of a stand-in for a step: that of the step, and a sleep by the clock of the run. */
export interface StandInContext extends Omit<StepContext<unknown>, 'services' | 'input'> {
  readonly services: unknown;
  // oxlint-disable-next-line typescript/no-explicit-any -- the input of the step is unknown here
  readonly input: any;
  /** Idempotency key of the step to undo, in an undo. */
  readonly stepKey?: string;
  /** Sleeps by the clock of the run. Throws when the step is aborted. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** Answer to an approval, or event, of a script. */
export interface OutsideGiven {
  /** `false` for a denial. @default true */
  readonly approved?: boolean;
  /** Subject of the person who answers. Default: another person for each answer. */
  readonly by?: string;
  /** Fields of the form, or the event. Default: the simplest content that fits the form. */
  readonly content?: Json;
  /** Time after the question. @default 0 */
  readonly after?: Duration;
}

type Value = string | number | boolean | bigint | object | null | undefined;

/** Stand-in for a step: a result, or a function in place of the code. */
export type StandIn<T> = unknown extends T
  ? Value | ((step: StandInContext) => Value | PromiseLike<Value> | void)
  : T | ((step: StandInContext) => T | PromiseLike<T>);
