import type { SampleParams } from './client-step.ts';
import type { Json } from '../values/json.ts';
import type { RetryPolicy } from '../values/retry.ts';
import type { Schema } from '../values/standard-schema.ts';
import type { SagaVersion } from './outcome.ts';
import type { BoundCompensator, BoundUndo } from './undo.ts';

/** Key of the specification in a command. */
export const brand: unique symbol = Symbol.for('mcp-saga.command');

/**
 * What a saga yields. Make one with `elicit`, `sample`, `step`, `all` and their like, and run it with `yield*`,
 * which gives its result, typed: `const { target } = yield* elicit('target', …)`.
 */
export interface Command<T> {
  readonly [brand]: CommandSpec;
  [Symbol.iterator](): Iterator<Command<unknown>, T, unknown>;
}

/**
 * A saga's body, or a helper of it: a generator that yields commands and returns an `R`. Annotate helpers with it
 * and call them with `yield*`.
 */
export type Steps<R> = Generator<Command<unknown>, R, unknown>;

/** The body of a saga: a generator function. */
export type SagaBody<A, R> = (input: A) => Steps<R>;

/** Asks the user with a form. */
export interface ElicitSpec {
  readonly kind: 'elicit';
  readonly id: string;
  readonly message: string;
  readonly schema: Schema;
  /** Whether a refusal comes back as a value instead of being thrown. */
  readonly asOutcome: boolean;
  readonly ttl: number | undefined;
  readonly accept: 'client' | 'model' | undefined;
  /** The content, or what makes it, where the client cannot be asked; undefined: there is none. */
  readonly fallback: unknown;
}

/** Sends the user to a URL. */
export interface ElicitUrlSpec {
  readonly kind: 'elicitUrl';
  readonly id: string;
  readonly message: string;
  readonly url: string;
  readonly ttl: number | undefined;
  readonly accept: 'client' | 'model' | undefined;
}

/** Asks the client's model. */
export interface SampleSpec {
  readonly kind: 'sample';
  readonly id: string;
  readonly params: SampleParams;
  readonly ttl: number | undefined;
}

/** Asks for the client's roots. */
export interface RootsSpec {
  readonly kind: 'roots';
  readonly id: string;
}

/** Runs a side effect on the server. */
export interface StepSpec {
  readonly kind: 'step';
  readonly id: string;
  readonly run: (context: never) => unknown;
  readonly input: Json | undefined;
  readonly key: string | undefined;
  readonly keep: boolean;
  readonly compress: boolean;
  readonly once: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly timeout: number | undefined;
  readonly undo: StepUndo | undefined;
  /** The step that this one undoes. */
  readonly of: { readonly path: string; readonly key: string | undefined } | undefined;
}

/** How something is undone. */
export type UndoWork =
  | { readonly kind: 'function'; readonly run: (undo: never) => unknown }
  | { readonly kind: 'generator'; readonly run: (undo: never) => Steps<unknown> }
  | { readonly kind: 'named'; readonly bound: BoundUndo };

/** How a step is undone. */
export interface StepUndo {
  /** Where it is known what the step did. */
  readonly known: UndoWork | BoundCompensator<never, never> | undefined;
  /** Where it is not: it timed out, its response was lost, its result cannot be kept. */
  readonly unknown: UndoWork | undefined;
  readonly label: string | undefined;
  readonly retry: RetryPolicy;
  readonly timeout: number | undefined;
}

/** Registers an undo. */
export interface CompensateSpec {
  readonly kind: 'compensate';
  readonly id: string;
  readonly work: UndoWork;
  readonly label: string | undefined;
  readonly retry: RetryPolicy;
  readonly timeout: number | undefined;
}

/** The point of no return. */
export interface PivotSpec {
  readonly kind: 'pivot';
  readonly id: string;
}

/** Ends the saga, or starts it over. */
export type EndSpec =
  | { readonly kind: 'abort'; readonly reason: string }
  | { readonly kind: 'continueAs'; readonly program: SagaVersion; readonly args: unknown };

/** Asks whether a change of the code holds for this saga. */
export interface PatchedSpec {
  readonly kind: 'patched';
  readonly id: string;
  readonly enabled: boolean;
}

/** Waits for a time. */
export interface SleepSpec {
  readonly kind: 'sleep';
  readonly id: string;
  readonly ms: number;
  readonly until: number | undefined;
}

/** Asks an outside system until it answers. */
export interface PollSpec {
  readonly kind: 'poll';
  readonly id: string;
  readonly ask: (context: never) => unknown;
  readonly every: number;
  readonly timeout: number;
  readonly report:
    | string
    | ((facts: { readonly asked: number; readonly elapsed: number }) => string)
    | undefined;
}

/** Reads the idempotency key of a step that is to be undone. */
export interface StepKeySpec {
  readonly kind: 'stepKey';
  readonly id: string;
  readonly path: string;
  readonly key: string | undefined;
}

/** Reads something that varies, and journals it. */
export interface ReadSpec {
  readonly kind: 'now' | 'random' | 'uuid' | 'info';
  readonly id: string;
}

/** Hands the client a fresh token with nothing to do. */
export interface CheckpointSpec {
  readonly kind: 'checkpoint';
  readonly id: string;
  /** What is shown with it. */
  readonly content: string | undefined;
}

/** Tells the client something, once. */
export type TellSpec =
  | {
      readonly kind: 'progress';
      readonly value: number;
      readonly total: number | undefined;
      readonly message: string | undefined;
    }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly data: Json };

/** The levels of MCP's log messages. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Runs branches in parallel. */
export interface GroupSpec {
  readonly kind: 'all' | 'allSettled' | 'race';
  readonly branches: readonly { readonly key: string; readonly steps: Command<unknown> | Steps<unknown> }[];
  readonly shape: 'record' | 'array';
}

/** Runs a helper in a scope of its own. */
export interface ScopeSpec {
  readonly kind: 'scope';
  readonly id: string;
  readonly steps: Command<unknown> | Steps<unknown>;
}

/** Runs another saga as a part of this one. */
export interface CallSpec {
  readonly kind: 'call';
  readonly id: string;
  readonly input: Schema | undefined;
  readonly args: unknown;
  readonly body: SagaBody<never, unknown>;
}

/** Everything a saga can yield, by kind. */
export type CommandSpec =
  | ElicitSpec
  | ElicitUrlSpec
  | SampleSpec
  | RootsSpec
  | StepSpec
  | ReadSpec
  | CheckpointSpec
  | TellSpec
  | GroupSpec
  | ScopeSpec
  | CallSpec
  | CompensateSpec
  | PivotSpec
  | EndSpec
  | PatchedSpec
  | SleepSpec
  | PollSpec
  | StepKeySpec;

/** The specs whose outcome becomes a journal entry of its own. */
export type JournalledSpec = Exclude<
  CommandSpec,
  TellSpec | GroupSpec | ScopeSpec | CompensateSpec | PivotSpec | EndSpec | PatchedSpec
>;

/** Whether a command waits for the client, and not for something that runs here. */
export function isAskedOfClient(kind: CommandSpec['kind']): boolean {
  return (
    kind === 'elicit' ||
    kind === 'elicitUrl' ||
    kind === 'sample' ||
    kind === 'roots' ||
    kind === 'checkpoint'
  );
}
