import { assertKnownOptions, optionNames } from '../values/known-options.ts';
import { AuthoringError } from '../values/errors.ts';
import type { CheckedResult } from './checks/checked-result.ts';
import type { CheckedUndo } from './checks/checked-undo.ts';
import { command } from '../effects/effect-of.ts';
import type { Command, StepUndo, ForkSensitiveCommand } from '../model/command.ts';
import type { BoundCompensator, BoundUndo, UndoFunction, UndoPolicy } from '../model/undo-types.ts';
import { assertJson, isJson, type Json } from '../values/json.ts';
import { assertStepId, assertStepKey } from '../values/path.ts';
import { toRetryPolicy, type RetryPolicy } from '../values/retry.ts';
import type { RequestUser, Services } from '../model/register.ts';
import { defaultUndoRetry, toUndoWork } from '../undo/undo-all.ts';

/** Context of a server step. */
export interface StepContext<I> {
  /** The step's `input`. */
  readonly input: I;
  /**
   * Services of the process, from the option `services` of the host: a database, a mailer, bindings
   * of a Worker. The same whoever runs the turn. Never journaled.
   */
  readonly services: Services;
  /**
   * User of the request, as `auth.authenticate` returned it. Undefined without one: a queue, a
   * cancel token, or an answer page runs turns without a request of the user. Never journaled: read
   * what a later step needs in a step before the first wait.
   */
  readonly user: RequestUser;
  /**
   * Aborts with the request, on the step's timeout, and when a sibling in `all` fails. An aborted
   * request waits 5 s more for the step. Then the turn ends, and the outcome of the step is
   * unknown.
   */
  readonly signal: AbortSignal;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * Key to send to the provider: the same for every attempt, every retry of the request, every fork
   * of the token, and across key rotation.
   *
   * The key is derived from the path and `key` of the step, not from its `input`. Two forks that
   * reach the step with different inputs share one key: a provider answers the second with the
   * result of the first, or rejects it. Put a value that forks may change into `key`, or declare
   * `forks: 'refuse'`.
   */
  readonly idempotencyKey: string;
}

/** Options of {@link step}. */
export interface StepOptions<I extends Json | undefined> {
  /** Input of the step, as JSON, passed to `run`. Replay rejects a step with changed input. */
  readonly input?: I;
  /**
   * Distinguishes runs of the step in loops: part of its path and idempotency key. Put values here
   * instead of into the `id`, which is compressed in the token.
   */
  readonly key?: string;
  /** A number of attempts, or a policy. Default: one attempt. */
  readonly retry?: RetryPolicy | number;
  /**
   * Maximum time of one attempt, in milliseconds. Afterwards, its signal aborts and the attempt
   * fails. Default: none.
   */
  readonly timeoutMs?: number;
  /**
   * Compresses the result together with the input of the client. Use it only for results without
   * secrets and without text from the client, because the compressed length reveals matches between
   * both. Default `false`.
   */
  readonly compress?: boolean;
  /**
   * Runs the step at most once, by a claim at the host's guard. If an earlier run made the claim,
   * the step fails with an unknown outcome. Needs a guard.
   */
  readonly once?: boolean;
  /** Undoes a step with an unknown outcome: it timed out, or its response was lost. */
  readonly compensateUnknown?: UndoFunction<undefined, I> | BoundUndo;
  /** Retries and timeout of the undos. */
  readonly undo?: UndoPolicy;
  /** Description of the effect, for users who read the list of undone steps. Sent to the client. */
  readonly label?: string;
}

/** Compensation of a step with a known result. */
export interface Compensable<R, I, U = unknown> {
  /**
   * Undoes the step if the saga later fails, aborts, or is refused or cancelled: a function, a
   * generator of server steps, or a named compensator. The saga must declare `forks`.
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

/** Options of a step that require `forks` of its saga. */
type ForkSensitive<R, I extends Json | undefined, U> =
  | { readonly compensate: NonNullable<Compensable<R, I, U>['compensate']> }
  | { readonly compensateUnknown: NonNullable<StepOptions<I>['compensateUnknown']> }
  | { readonly once: true };

/** Options of a step that does not require `forks`. */
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
 * Runs a side effect on the server, once, and records its result. The body gets the result as the
 * codec returns it, in the first run too. `run` may return JSON, and Date, Map, Set, BigInt, URL,
 * Uint8Array, Error, undefined.
 *
 * The client stores the journal, encrypted: return references instead of secrets. With
 * `keep: false`, the journal records only that the step ran, and the body gets undefined.
 * @throws StepError (in the body) when the last attempt failed, or if its result cannot be encoded
 * @example
 * ```ts
 * function* pay(cents: number): Steps<string> {
 *   const charge = ({ idempotencyKey }: StepContext<undefined>): Promise<string> =>
 *     bank.charge(cents, { idempotencyKey });
 *   return yield* step('charge', charge, {
 *     retry: 3,
 *     timeoutMs: 10_000,
 *     compensate: ({ result }) => bank.refund(result),
 *   });
 * }
 * ```
 */
export function step<R, I extends Json | undefined = undefined, U = unknown>(
  id: string,
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'A step'>,
  options: StepOptions<I> &
    Compensable<R, I, U> &
    ForkSensitive<R, I, U> & { readonly keep?: true },
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
// For options of both kinds. Last, because compilers report the last overload if none fits.
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
  if (input !== undefined && !isJson(input)) assertJson(input, { where: `input of step '${id}'` });
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

function toKnownUndo(
  id: string,
  compensate: NonNullable<AnyStepOptions['compensate']>,
): StepUndo['known'] {
  if (typeof compensate === 'function') return toUndoWork(compensate, id);
  if (typeof (compensate as Partial<typeof compensate>).bind === 'function') return compensate;
  throw new AuthoringError(
    `compensate of step '${id}' must be a function, or a named compensator: refund.for(({ result }) => …).`,
  );
}
