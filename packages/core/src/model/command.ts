import type { Json } from '../values/json.ts';
import type { RetryPolicy } from '../values/retry.ts';
import type { SagaVersion } from './outcome.ts';
import type { BoundCompensator, BoundUndo } from './undo.ts';

/** Key of the specification in a command. */
export const brand: unique symbol = Symbol.for('mcp-saga.command');

/** Key of a type that says whether a command needs a saga with `forks`. No value has it. */
export declare const forkSensitive: unique symbol;

/** A command of a saga, made by `elicit`, `sample`, `step`, `all`, …; `yield*` runs it and returns its typed result. */
export interface Command<T> {
  readonly [brand]: { readonly kind: string };
  readonly [forkSensitive]?: false;
  [Symbol.iterator](): Iterator<Command<unknown>, T, unknown>;
}

/** A command that compensates, pivots, or runs once. Its saga declares `forks`. */
export interface ForkSensitiveCommand<T> extends Command<T> {
  // `any` is assignable to `false`, but no subtype of it: helpers may be declared as `Steps`, and unions keep both.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [forkSensitive]: any;
  [Symbol.iterator](): Iterator<ForkSensitiveCommand<unknown>, T, unknown>;
}

/** Body or helper of a saga: a generator that yields commands and returns an `R`. Call helpers with `yield*`. */
export type Steps<R> = Generator<Command<unknown>, R, unknown>;

/** The body of a saga: a generator function. */
export type SagaBody<A, R> = (input: A) => Steps<R>;

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
  readonly timeoutMs: number | undefined;
}

/** Registers an undo. */
export interface CompensateSpec {
  readonly kind: 'compensate';
  readonly id: string;
  readonly work: UndoWork;
  readonly label: string | undefined;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | undefined;
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

/** Commands that steer the body. Their outcome is no journal entry of its own. */
export type ControlSpec =
  | TellSpec
  | GroupSpec
  | ScopeSpec
  | CompensateSpec
  | PivotSpec
  | EndSpec
  | PatchedSpec;
