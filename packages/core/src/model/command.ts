import type { Json } from '../values/json.ts';
import type { RetryPlan } from '../values/retry.ts';
import type { SagaVersion } from './outcome.ts';
import type { BoundCompensator, BoundUndo } from './undo-types.ts';

/** Key of the specification in a command. */
export const brand: unique symbol = Symbol.for('mcp-saga.command');

/** Type-level key of commands and sagas that need a store. Values never have the key. */
export declare const needsStore: unique symbol;

/** Type-level key of a command that asks the client. Values never have the key. */
export declare const asksClient: unique symbol;

/**
 * A command of a saga, made by `elicit`, `sample`, `step`, `all`, …; `yield*` runs it and returns
 * its typed result.
 */
export interface Command<T> {
  readonly [brand]: { readonly kind: string };
  readonly [needsStore]?: false;
  readonly [asksClient]?: false;
  [Symbol.iterator](): Iterator<Command<unknown>, T, unknown>;
}

/** A command that compensates, pivots, or runs once. The host of its saga needs a store. */
export interface GuardedCommand<T> extends Command<T> {
  // `any` is assignable to `false`, but no subtype of it: helpers may be declared as `Steps`, and
  // unions keep both.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [needsStore]: any;
  [Symbol.iterator](): Iterator<GuardedCommand<unknown>, T, unknown>;
}

/** A command that asks the client. The undo of a step must not contain one. */
export interface AskingCommand<T> extends Command<T> {
  // As above.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [asksClient]: any;
  [Symbol.iterator](): Iterator<AskingCommand<unknown>, T, unknown>;
}

/**
 * Body or helper of a saga: a generator that yields commands and returns an `R`. Call helpers with
 * `yield*`.
 */
export type Steps<R> = Generator<Command<unknown>, R, unknown>;

/** The body of a saga: a generator function. */
export type SagaBody<A, R> = (input: A) => Steps<R>;

/** Code of a compensation: a function, a generator, or a named compensator. */
export type UndoWork =
  | { readonly kind: 'function'; readonly run: (undo: never) => unknown }
  | { readonly kind: 'generator'; readonly run: (undo: never) => Steps<unknown> }
  | { readonly kind: 'named'; readonly bound: BoundUndo };

/** Compensation of a step. */
export interface StepUndo {
  readonly work: UndoWork | BoundCompensator<never, never>;
  /**
   * `true` if the undo also runs for an unknown outcome: a timeout, a lost response, or a result
   * that cannot be recorded.
   */
  readonly undoesUnknown: boolean;
  readonly label: string | undefined;
  readonly retry: RetryPlan;
  readonly timeoutMs: number | undefined;
}

export interface PivotSpec {
  readonly kind: 'pivot';
  readonly id: string;
}

/** Ends the saga, or starts it over. */
export type EndSpec =
  | { readonly kind: 'abort'; readonly reason: string }
  | {
      readonly kind: 'continueAs';
      readonly program: SagaVersion & { readonly suspends?: false };
      readonly args: unknown;
    };

/** Checks if a change of the code applies to the saga. */
export interface PatchedSpec {
  readonly kind: 'patched';
  readonly id: string;
  readonly enabled: boolean;
}

/** Reports progress, a log message, or the end of a page's interaction to the client, once. */
export type TellSpec =
  | {
      readonly kind: 'progress';
      readonly value: number;
      readonly total: number | undefined;
      readonly message: string | undefined;
    }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly data: Json }
  /** `id`: ID of an `elicitUrl`, and its path when told. */
  | { readonly kind: 'completeUrl'; readonly id: string };

/** Severity of a log message, as in syslog. */
export type LogLevel =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency';

export interface GroupSpec {
  readonly kind: 'all' | 'allSettled' | 'race' | 'each';
  /** Number of steps of all branches that run at the same time. Undefined: without a limit. */
  readonly limit?: number;
  readonly branches: readonly {
    readonly key: string;
    readonly steps: Command<unknown> | Steps<unknown>;
  }[];
  readonly shape: 'record' | 'array';
}

export interface ScopeSpec {
  readonly kind: 'scope';
  readonly id: string;
  readonly steps: Command<unknown> | Steps<unknown>;
  /** Function that made the scope to ask other people or another system. */
  readonly question?: 'approval' | 'waitFor';
}

/** Commands that steer the body. Their outcome has no journal entry. */
export type ControlSpec = TellSpec | GroupSpec | ScopeSpec | PivotSpec | EndSpec | PatchedSpec;
