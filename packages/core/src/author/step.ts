import { assertKnownOptions, optionNames } from '../values/known-options.ts';
import { AuthoringError } from '../values/errors.ts';
import type { CheckedResult } from './checks/checked-result.ts';
import type { CheckedUndo } from './checks/checked-undo.ts';
import { command } from '../effects/effect-of.ts';
import type { Command, StepUndo, ForkSensitiveCommand } from '../model/command.ts';
import type { BoundCompensator, BoundUndo, UndoFunction, UndoPolicy } from '../model/undo.ts';
import { assertJson, type Json } from '../values/json.ts';
import { assertStepId, assertStepKey } from '../values/path.ts';
import { toRetryPolicy, type RetryPolicy } from '../values/retry.ts';
import type { Context } from '../model/context.ts';
import { defaultUndoRetry, toUndoWork } from '../undo/undo-all.ts';

/** What a server step gets to work with. */
export interface StepContext<I> {
  /** The step's `input`. */
  readonly input: I;
  /** What the host's caller gave this request: bindings, auth info, a database handle. Never journalled. */
  readonly context: Context;
  /**
   * Aborts with the request, on the step's timeout, and when a sibling in `all` fails. A request that was aborted waits 5 s more
   * for the step. Then the turn ends without it, and the outcome of the step is unknown.
   */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /**
   * Send it to the provider: the same for every attempt, every retry of the request, every fork of the token and
   * across key rotation. (E1)
   *
   * The key is derived from the path and `key` of the step, not from its `input`. Two forks that reach the step with different
   * inputs share one key: a provider answers the second with the result of the first, or rejects it. Put a value that forks
   * may change into `key`, or declare `forks: 'refuse'`.
   */
  readonly idempotencyKey: string;
}

/** How a server step is run. */
export interface StepOptions<I extends Json | undefined> {
  /** What the step works on: JSON, handed to `run`. Replay refuses a step whose input has changed. (R3) */
  readonly input?: I;
  /**
   * Distinguishes runs of the step in loops: part of its path and idempotency key. Put values here, and not into the `id`, which is
   * compressed in the token.
   */
  readonly key?: string;
  /** A number of attempts, or a policy. Default: one attempt. */
  readonly retry?: RetryPolicy | number;
  /** Milliseconds for one attempt, after which its signal aborts and it has failed. Default: none. */
  readonly timeoutMs?: number;
  /**
   * Compresses the result with what the client sent. Only for results without secrets or text of the client, since their
   * length would reveal one by the other. Default `false`.
   */
  readonly compress?: boolean;
  /**
   * Runs the step at most once, by a claim at the host's guard. If the outcome is unknown after that, the step fails with an
   * unknown outcome. Needs a guard.
   */
  readonly once?: boolean;
  /** Undoes it where it is not known whether it happened: it timed out, or its response was lost. (E4) */
  readonly compensateUnknown?: UndoFunction<undefined, I> | BoundUndo;
  /** How its undos are run. */
  readonly undo?: UndoPolicy;
  /** What it does, for people who read what was undone, or was left: the client is sent it. */
  readonly label?: string;
}

/** How a step whose result is known is undone. */
export interface Compensable<R, I, U = unknown> {
  /**
   * Undoes the step if the saga fails, is refused, aborted, or cancelled later: a function, a generator of server steps, or a
   * named compensator. The saga must declare `forks`.
   */
  readonly compensate?: (UndoFunction<R, I> & CheckedUndo<U>) | BoundCompensator<R, I>;
}

const undoNames = /* @__PURE__ */ optionNames<UndoPolicy>({ retry: true, timeoutMs: true });
const none: AnyStepOptions = {};

const names = /* @__PURE__ */ optionNames<AnyStepOptions>({
  input: true,
  key: true,
  retry: true,
  timeoutMs: true,
  compensate: true,
  compensateUnknown: true,
  undo: true,
  once: true,
  keep: true,
  compress: true,
  label: true,
});

/** What makes a step one for which its saga declares `forks`. */
type ForkSensitive<R, I extends Json | undefined, U> =
  | { readonly compensate: NonNullable<Compensable<R, I, U>['compensate']> }
  | { readonly compensateUnknown: NonNullable<StepOptions<I>['compensateUnknown']> }
  | { readonly once: true };

/** A step that is none of these. */
interface NotForkSensitive {
  readonly compensate?: undefined;
  readonly compensateUnknown?: undefined;
  readonly once?: false;
}

/** The options of a step of any types. */
interface AnyStepOptions extends Omit<StepOptions<Json | undefined>, 'compensateUnknown'> {
  readonly keep?: boolean;
  readonly compensate?: UndoFunction<never, never> | BoundCompensator<never, never> | undefined;
  readonly compensateUnknown?: UndoFunction<never, never> | BoundUndo | undefined;
}

/**
 * Runs a side effect on the server, once, and journals its result. The body gets the result as the codec gives it
 * back, in the first run too; `run` may return JSON, and Date, Map, Set, BigInt, URL, Uint8Array, Error, undefined.
 *
 * Values in the journal sit with the client, encrypted: return references, not secrets. With `keep: false` only
 * that it ran is journalled, and the body gets undefined.
 *
 * @throws StepError (in the body) when the last attempt failed, or its result cannot be encoded
 */
export function step<R, I extends Json | undefined = undefined, U = unknown>(
  id: string,
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'A step'>,
  options: StepOptions<I> & Compensable<R, I, U> & ForkSensitive<R, I, U> & { readonly keep?: true },
): ForkSensitiveCommand<R>;
export function step<I extends Json | undefined = undefined, U = unknown>(
  id: string,
  run: (step: StepContext<I>) => unknown,
  options: StepOptions<I> &
    Compensable<undefined, I, U> &
    ForkSensitive<undefined, I, U> & { readonly keep: false },
): ForkSensitiveCommand<void>;
export function step<R, I extends Json | undefined = undefined>(
  id: string,
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'A step'>,
  options?: StepOptions<I> & NotForkSensitive & { readonly keep?: true },
): Command<R>;
export function step<I extends Json | undefined = undefined>(
  id: string,
  run: (step: StepContext<I>) => unknown,
  options: StepOptions<I> & NotForkSensitive & { readonly keep: false },
): Command<void>;
// For options that may be of both kinds. Where none fits, compilers tell of the last.
export function step<R, I extends Json | undefined = undefined, U = unknown>(
  id: string,
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'A step'>,
  options: StepOptions<I> & Compensable<R, I, U> & { readonly keep?: true },
): ForkSensitiveCommand<R>;
export function step(
  id: string,
  run: (step: StepContext<never>) => unknown,
  options: AnyStepOptions = none,
): ForkSensitiveCommand<never> {
  assertStepId(id);
  if (typeof run !== 'function') throw new AuthoringError(`step('${id}') needs a function to run.`);
  if (options !== none) assertKnownOptions('step', id, options, names);
  const { input, key, retry, timeoutMs, keep = true, compress = false, once = false } = options;
  if (input !== undefined) assertJson(input, { where: `input of step '${id}'` });
  if (key !== undefined) assertStepKey(id, key);
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new AuthoringError(`timeoutMs of step '${id}' must be more than 0 milliseconds.`);
  }
  return command<never>({
    kind: 'step',
    id,
    run,
    input,
    key,
    keep,
    compress,
    once,
    retry: toRetryPolicy(id, retry),
    timeoutMs,
    undo: toStepUndo(id, options),
    of: undefined,
  }) as ForkSensitiveCommand<never>;
}

function toStepUndo(id: string, options: AnyStepOptions): StepUndo | undefined {
  const { compensate, compensateUnknown, label, undo } = options;
  if (compensate === undefined && compensateUnknown === undefined) return undefined;
  if (undo !== undefined) assertKnownOptions('undo of step', id, undo, undoNames);
  return {
    known: compensate === undefined ? undefined : toKnownUndo(id, compensate),
    unknown: compensateUnknown === undefined ? undefined : toUndoWork(compensateUnknown, id),
    label,
    retry: toRetryPolicy(id, undo?.retry) ?? defaultUndoRetry,
    timeoutMs: undo?.timeoutMs,
  };
}

function toKnownUndo(id: string, compensate: NonNullable<AnyStepOptions['compensate']>): StepUndo['known'] {
  if (typeof compensate === 'function') return toUndoWork(compensate, id);
  if (typeof (compensate as Partial<typeof compensate>).bind === 'function') return compensate;
  throw new AuthoringError(
    `compensate of step '${id}' must be a function, or a named compensator: refund.for(({ result }) => …).`,
  );
}
