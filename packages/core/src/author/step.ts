/**
 * The functions that authors call. Each returns a command: a description that does nothing until
 * it is yielded. Mistakes in arguments throw here, at the line of the author, with the ID of the
 * step. All else is decided by the engine when the command is carried out.
 */
import { assertKnownOptions, assertOneOf } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import { AuthoringError } from '../values/errors.ts';
import type { CheckedJson } from './checks/checked-json.ts';
import type { CheckedResult } from './checks/checked-result.ts';
import type { CheckedUndo } from './checks/checked-undo.ts';
import { command } from '../effects/make-command.ts';
import { brand, type Command, type StepUndo, type GuardedCommand } from '../model/command.ts';
import type {
  BoundCompensator,
  UndoFunction,
  UndoPolicy,
  WhenUnknown,
} from '../model/undo-types.ts';
import { assertJson, isJson, type Json } from '../values/json.ts';
import type { Duration } from '../values/duration.ts';
import { assertStepId, assertStepKey, checkedTimeout } from '../values/path.ts';
import { toRetryPlan, type RetryPolicy } from '../values/retry.ts';
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
   * User of the request, as `auth.authenticate` returned it. Undefined without one: a queue or an
   * answer page runs turns without a request of the user. Never journaled: read what a later step
   * needs in a step before the first wait.
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
   * The key is derived from the path and `key` of the step, not from its `input`. Two requests that
   * reach the step with different inputs share one key: a provider answers the second with the
   * result of the first, or rejects it. Put a value that such requests may change into `key`.
   */
  readonly idempotencyKey: string;
}

/**
 * Options of {@link step}. The parameters after `Input` and `Result` are what a call tells of
 * itself: if the result is kept, what the undo returns, if the step runs once, and what happens if
 * its outcome is unknown.
 */
export interface StepOptions<
  Input,
  Result = unknown,
  Keep extends boolean = boolean,
  Undo = unknown,
  Once extends boolean = boolean,
  When extends WhenUnknown = WhenUnknown,
> extends Compensable<Result, Input, Undo, Keep, When> {
  /** Input of the step, as JSON, passed to `run`. Replay rejects a step with changed input. */
  readonly input?: Input & CheckedJson<Exclude<NoInfer<Input>, undefined>, 'The input of a step'>;
  /**
   * Distinguishes runs of the step in loops: part of its path and idempotency key. Put values here
   * instead of into the `id`, which is compressed in the token.
   */
  readonly key?: string;
  /**
   * A number of attempts, or a policy. Default: `steps.retry` of the host, which is one attempt
   * unless set, because an effect without a key must not be repeated silently.
   */
  readonly retry?: RetryPolicy | number;
  /**
   * Maximum time of one attempt. Afterwards, its signal aborts and the attempt fails. Default: none.
   */
  readonly timeout?: Duration;
  /**
   * `false` does not record the result: the body and `compensate` get undefined. For credentials.
   * Default `true`.
   */
  readonly keep?: Keep;
  /**
   * Compresses the result together with the input of the client. Use it only for results without
   * secrets and without text from the client, because the compressed length reveals matches between
   * both. Default `false`.
   */
  readonly compress?: boolean;
  /**
   * `true` for a step without an effect, such as a read of a database. Its result is recorded once,
   * but it may run again, and nothing has to undo it: the explorers of `@mcp-saga/testing` accept
   * both, an unknown outcome counts as failed, and the step may run while a question is created and
   * not yet asked. Cannot be combined with `compensate`, `unknown`, `undo`, and `once`. Default
   * `false`.
   */
  readonly reads?: CheckedReads<Undo, Once>;
  /**
   * Runs the step at most once, by a claim at the host's guard. If an earlier run made the claim,
   * the step fails with an unknown outcome. Needs a guard.
   */
  readonly once?: Once;
  /** Retries and timeout of the undo. */
  readonly undo?: UndoPolicy;
  /** Description of the effect, for users who read the list of undone steps. Sent to the client. */
  readonly label?: string;
}

/** Undo of a step with the result `R` and the input `I`, which returns a `U`. */
export interface Compensable<
  R,
  I,
  U = unknown,
  Keep extends boolean = true,
  When extends WhenUnknown = WhenUnknown,
> {
  /**
   * Undoes the step if the saga later fails, aborts, or is refused or cancelled: a function, a
   * generator of server steps, or a named compensator. The host needs a store.
   */
  readonly compensate?:
    | (UndoFunction<Keep extends false ? undefined : R, I, NoInfer<When>> & CheckedUndo<U>)
    | NamedUndo<R, I, U, Keep, NoInfer<When>>
    | undefined;
  /**
   * What happens if the outcome of the step is unknown: it timed out, its response was lost, or its
   * process died. `report` names the step as not undone. `compensate` runs `compensate`, with the
   * `outcome` `'unknown'`: choose it if the provider finds the effect by the `stepKey`.
   * @default 'report'
   */
  readonly unknown?: When | undefined;
}

/**
 * A named compensator of a step. The compiler infers the types of its arguments before it knows
 * `Keep` and `When`. If they change these types, the step refuses what was inferred, by the name.
 */
type NamedUndo<R, I, U, Keep extends boolean, When extends WhenUnknown> =
  | (BoundCompensator<R, I> & {
      readonly run: (undo: never) => U;
      readonly name: NameOf<Keep, When>;
    })
  | (Keep extends false
      ? BoundCompensator<undefined, I, When> & { readonly run: (undo: never) => U }
      : 'compensate' extends When
        ? BoundCompensator<R, I, When> & { readonly run: (undo: never) => U }
        : never);

type NameOf<Keep extends boolean, When extends WhenUnknown> = Keep extends false
  ? ['A step with keep: false has no result. Write: refund.for<undefined, Input>(({ input }) => …)']
  : 'compensate' extends When
    ? [
        "An unknown outcome has no result. Write: refund.for<Result, Input, 'compensate'>(({ outcome, result }) => …)",
      ]
    : string;

const undoNames: NamesOf<UndoPolicy> = { retry: true, timeout: true };
const none: AnyStepOptions = {};

const names: NamesOf<AnyStepOptions> = {
  input: true,
  key: true,
  retry: true,
  timeout: true,
  compensate: true,
  unknown: true,
  undo: true,
  once: true,
  reads: true,
  keep: true,
  compress: true,
  label: true,
};

/** Options of a step of any types. */
interface AnyStepOptions extends Omit<StepOptions<Json | undefined>, 'compensate' | 'reads'> {
  readonly reads?: boolean;
  readonly compensate?: UndoFunction<never, never> | BoundCompensator<never, never> | undefined;
}

/** Type of an undo that a step does not have. */
declare const absent: unique symbol;
interface Absent {
  readonly [absent]: true;
}

type IsAbsent<U> = [0] extends [1 & U] ? false : [U, Absent] extends [Absent, U] ? true : false;

/** Type of `reads` beside an undo or `once`, which a step without an effect cannot have. */
type CheckedReads<Undo, Once> = [IsAbsent<Undo>, Once] extends [true, false]
  ? boolean
  : unknown extends Undo
    ? boolean
    : false | 'A step without an effect is neither undone nor run only once';

/** Command of a step. Its host needs a store if the step can be undone, or runs once. */
type StepCommand<R, Undo, Once> = [IsAbsent<Undo>, Once] extends [true, false]
  ? Command<R>
  : GuardedCommand<R>;

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
 *     timeout: '10s',
 *     compensate: ({ stepKey }) => bank.refund(stepKey),
 *     unknown: 'compensate',
 *   });
 * }
 * ```
 */
// One signature: of several, compilers report the last one, whatever the mistake.
export function step<
  R,
  I = undefined,
  Keep extends boolean = true,
  Undo = Absent,
  Once extends boolean = false,
  When extends WhenUnknown = 'report',
>(
  id: string,
  run: ((step: StepContext<I>) => R | PromiseLike<R>) &
    (Keep extends false ? unknown : CheckedResult<R, 'A step'>),
  options?: StepOptions<I, R, Keep, Undo, Once, When>,
): StepCommand<Keep extends false ? void : R, Undo, Once> {
  const given = (options === undefined ? none : options) as AnyStepOptions;
  assertStepId(id);
  if (typeof run !== 'function') throw notRunnable(id, run);
  if (given !== none) assertKnownOptions('step', id, given, names);
  const { input, key, retry, timeout, keep = true, compress = false, once = false } = given;
  const { reads = false } = given;
  if (reads) assertOnlyReads(id, given);
  if (input !== undefined && !isJson(input)) assertJson(input, { where: `input of step '${id}'` });
  if (key !== undefined) assertStepKey(id, key);
  return command<never>({
    kind: 'step',
    id,
    run,
    input,
    key,
    keep,
    compress,
    once,
    reads,
    retry: toRetryPlan(id, retry),
    timeoutMs: checkedTimeout(id, timeout),
    undo: toStepUndo(id, given),
    of: undefined,
  }) as StepCommand<Keep extends false ? void : R, Undo, Once>;
}

/** Error for what a step cannot run: most often the promise of work that has begun already. */
function notRunnable(id: string, run: unknown): AuthoringError {
  const isPromise =
    !(brand in Object(run)) &&
    typeof (Object(run) as Partial<Promise<unknown>>).then === 'function';
  return new AuthoringError(
    isPromise
      ? `step('${id}') got a promise, so its work has begun before the step. Pass the function: step('${id}', () => …).`
      : `step('${id}') needs a function to run: step('${id}', () => …).`,
    { anchor: 'steps' },
  );
}

/** Refuses options of an effect, which a step that only reads does not have. */
function assertOnlyReads(id: string, { compensate, unknown, undo, once }: AnyStepOptions): void {
  const ofEffects = { compensate, unknown, undo, once: once === true ? once : undefined };
  const [other] = Object.entries(ofEffects).find(([, value]) => value !== undefined) ?? [];
  if (other === undefined) return;
  throw new AuthoringError(
    `Step '${id}' has reads: true and ${other}, but a step without an effect is neither undone nor run only once. ` +
      'Remove one of the two.',
    { anchor: 'undos' },
  );
}

function toStepUndo(id: string, options: AnyStepOptions): StepUndo | undefined {
  const { compensate, unknown, label, undo } = options;
  assertOneOf(`unknown of step '${id}'`, unknown, ['report', 'compensate']);
  if (typeof undo === 'function')
    throw new AuthoringError(
      `undo of step '${id}' takes { retry, timeout }. The function that undoes the step is its \`compensate\`.`,
      { anchor: 'undos' },
    );
  if (undo !== undefined) assertKnownOptions('undo of step', id, undo, undoNames);
  if (compensate === undefined) {
    if (unknown !== 'compensate') return undefined;
    throw new AuthoringError(
      `unknown: 'compensate' of step '${id}' needs its compensate, which undoes the step.`,
      { anchor: 'undos' },
    );
  }
  return {
    work: toWork(id, compensate),
    undoesUnknown: unknown === 'compensate',
    label,
    retry: toRetryPlan(id, undo?.retry) ?? defaultUndoRetry,
    timeoutMs: checkedTimeout(`undo of ${id}`, undo?.timeout),
  };
}

function toWork(
  id: string,
  compensate: NonNullable<AnyStepOptions['compensate']>,
): StepUndo['work'] {
  if (typeof compensate === 'function') return toUndoWork(compensate);
  if (typeof Object(compensate).bind === 'function') return compensate;
  throw new AuthoringError(
    `compensate of step '${id}' must be a function, or a named compensator: refund.for(({ result }) => …).`,
    { anchor: 'undos' },
  );
}
