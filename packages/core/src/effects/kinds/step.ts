/**
 * A side effect on the server, the only kind whose outcome can be unknown.
 *
 * Each attempt gets the same idempotency key. A failed attempt is repeated by its retry policy:
 * within the turn, or in a later turn with an entry `retry` that says when. A `once` step is
 * claimed at the guard before its first attempt.
 *
 * - An attempt after which nobody knows what happened (a timeout, an abort, an interrupted run)
 *   makes the outcome `unknown`, and a later failure of the step does not make it known again.
 * - A step whose claim fails has not run, and the turn stops there.
 */
import type { StepUndo } from '../../model/command.ts';
import type { Runtime } from '../../model/runtime.ts';
import { undoMark } from '../../values/path.ts';
import {
  CommandAwaited,
  OutcomeUnknown,
  StepError,
  TurnAborted,
  AuthoringError,
} from '../../values/errors.ts';
import { encode } from '../../values/codec.ts';
import type { Json } from '../../values/json.ts';
import { delayAfter, type RetryPlan } from '../../values/retry.ts';
import { encodeError, toStepErrorData } from '../../values/step-error-data.ts';
import type { Effect, EffectTask, Spec } from '../parts/effect.ts';
import { ended } from '../parts/effect-entries.ts';
import { keyText, performed, type StepKey } from '../parts/run-code.ts';

/** Specification of a side effect on the server. */
export interface StepSpec extends Spec {
  readonly kind: 'step';
  readonly run: (context: never) => unknown;
  readonly input: Json | undefined;
  readonly key: string | undefined;
  readonly keep: boolean;
  readonly compress: boolean;
  readonly once: boolean;
  /** `true` for a step without an effect. Not part of the fingerprint: it may change while sagas run. */
  readonly reads: boolean;
  readonly retry: RetryPlan | undefined;
  readonly timeoutMs: number | undefined;
  readonly undo: StepUndo | undefined;
  /** Undone step, for the step of an undo. */
  readonly of: { readonly path: string; readonly key: string | undefined } | undefined;
}

export const step: Effect<StepSpec> = {
  place: 'server',
  entries: ['done', 'compressed', 'empty', 'failed', 'retry', 'withdrawn', 'unknown'],
  request: ({ input, keep, of }) => {
    // The undo of a step never keeps a result.
    if (!keep && of === undefined) return [input, { keep }];
    return input === undefined ? nothing : [input];
  },
  run: async (task, runtime, signal) => {
    const done = await runStep(task, task.spec, runtime, signal);
    if ('aborts' in done) return { entry: undefined, value: undefined, ...done };
    return 'text' in done
      ? ended(done.type, done.text)
      : { entry: { type: done.type }, value: undefined };
  },
  needsStore: isVitalStep,
};

/** `true` for a step that must not be lost, and not run twice. */
export function isVitalStep({ undo, once }: Pick<StepSpec, 'undo' | 'once'>): boolean {
  return undo !== undefined || once;
}

const nothing: readonly unknown[] = [];

/** Outcome of a server step. */
export type StepEnd =
  | { readonly type: 'done' | 'compressed'; readonly text: string }
  | { readonly type: 'empty' }
  | { readonly type: 'failed' | 'unknown'; readonly text: string; readonly error?: unknown }
  | { readonly type: 'retry'; readonly text: string };

/** A `once` step that could not be claimed: the step has not run, and the turn cannot continue. */
export interface StepUnclaimed {
  readonly aborts: TurnAborted;
}

/**
 * Run of a server step: the task, and the state after earlier attempts. The run updates `unknown`.
 */
export type StepRun = Omit<EffectTask<StepSpec>, 'spec' | 'asked' | 'since'>;

/**
 * Runs a server step with its attempts, backoff, and timeout. Never rejects. A backoff beyond the
 * turn ends the run with the time of the next attempt.
 */
export async function runStep(
  task: StepRun,
  spec: StepSpec,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StepEnd | StepUnclaimed> {
  const undoes = task.path.startsWith(undoMark);
  const idempotencyKey = await runtime.effects.idempotencyKey(
    task.path,
    spec.key,
    undoes ? 'undo' : 'do',
  );
  const { of } = spec;
  const stepKey =
    of === undefined
      ? {}
      : { stepKey: keyText(await runtime.effects.idempotencyKey(of.path, of.key, 'do')) };
  // Before the claim: a claimed step that never ran would have an unknown outcome.
  if (signal.aborted) return retryEntry(task, task.attempts, 0);
  const refused = await claimOnce(task, spec, runtime, idempotencyKey);
  if (refused !== undefined) return refused;
  // The default of the host must not repeat a step that runs at most once: only the `retry` of the
  // step may. An undo has a policy of its own.
  const retry = spec.retry ?? task.retry ?? (spec.once ? undefined : runtime.effects.stepRetry);
  for (let attempt = task.attempts + 1; ; attempt += 1) {
    // Aborted while the key was derived: the step has not run.
    if (signal.aborted) return retryEntry(task, attempt - 1, 0);
    const facts = {
      kind: 'step',
      path: task.path,
      attempt,
      ...(spec.reads ? { reads: true } : {}),
    };
    const given = { attempt, ...stepKey };
    runtime.observer.observe({ type: 'started', ...facts });
    const tried = await tryOnce(task, spec, given, idempotencyKey, runtime, signal);
    if ('result' in tried) {
      // The effect has happened: if the result cannot be recorded, a retry would only repeat the
      // effect.
      const end = endOf(task.path, spec, tried.result);
      const type = 'error' in end ? 'failed' : 'succeeded';
      runtime.observer.observe({ type, ...facts, ...('error' in end ? { error: end.error } : {}) });
      if ('error' in end) runtime.observer.threw?.(task.path, end.error);
      return end;
    }
    // Its code may have acted before it awaited a command, and would make the same mistake again.
    if (tried.thrown instanceof CommandAwaited) {
      task.unknown = true;
      runtime.observer.observe({ type: 'failed', error: tried.thrown, ...facts });
      return failed(task, spec, tried.thrown, runtime);
    }
    // An unknown effect stays unknown, whatever the next attempt does.
    task.unknown ||= signal.aborted || isUnknownOutcome(tried.thrown);
    const { delay, error } = signal.aborted
      ? { error: tried.thrown }
      : again(retry, attempt, tried.thrown, runtime);
    const notBefore = delay === undefined ? Number.POSITIVE_INFINITY : runtime.time.now() + delay;
    // The token expires before the retry. An undo may take longer than the saga lives.
    const isLast =
      delay === undefined || (!undoes && notBefore > (runtime.saga.lifeEndsAt ?? notBefore));
    runtime.observer.observe({ type: isLast ? 'failed' : 'retrying', error, ...facts });
    if (isLast) return failed(task, spec, error, runtime);
    if (isForLater(notBefore, delay, runtime)) return retryEntry(task, attempt, notBefore);
    await runtime.time.sleep(delay, signal);
    if (signal.aborted) return failed(task, spec, error, runtime);
  }
}

/** Delay before the next attempt in milliseconds, if any, and the error. */
function again(
  policy: RetryPlan | undefined,
  attempt: number,
  error: unknown,
  runtime: Runtime,
): { readonly delay?: number | undefined; readonly error: unknown } {
  try {
    return { delay: delayAfter(policy, attempt, error, () => runtime.time.random()), error };
  } catch (thrown) {
    // Thrown by the author's `when`. The attempt may have had an effect all the same.
    return { error: thrown };
  }
}

/** `true` if another turn waits for the backoff. */
function isForLater(notBefore: number, delay: number, runtime: Runtime): boolean {
  const { deadline, commitsEach } = runtime.turn;
  return (
    commitsEach ||
    (deadline !== undefined && (notBefore > deadline || delay > runtime.time.maxHold))
  );
}

/** Journal entry of a step that another turn tries again. */
export function retryEntry(
  { unknown, interruptedTurn }: StepRun,
  attempts: number,
  notBefore: number,
): Extract<StepEnd, { readonly type: 'retry' }> {
  const entry = [attempts, notBefore, unknown];
  return {
    type: 'retry',
    text: encode(interruptedTurn === undefined ? entry : [...entry, interruptedTurn]),
  };
}

function failed(task: StepRun, { reads }: StepSpec, error: unknown, runtime: Runtime): StepEnd {
  runtime.observer.threw?.(task.path, error);
  // A read has no effect that could be unknown.
  return { type: task.unknown && !reads ? 'unknown' : 'failed', text: encodeError(error) };
}

/** `true` if the effect of a failed attempt may have happened. */
export function isUnknownOutcome(error: unknown): boolean {
  const { name, code } = toStepErrorData(error);
  return (
    code === 'timeout' ||
    code === 'outcome_unknown' ||
    name === 'AbortError' ||
    name === 'TimeoutError'
  );
}

/** Claims the key of a `once` step. An existing claim makes the outcome unknown. */
async function claimOnce(
  task: StepRun,
  spec: StepSpec,
  runtime: Runtime,
  key: StepKey,
): Promise<StepEnd | StepUnclaimed | undefined> {
  if (!spec.once || task.attempts > 0) return undefined;
  if (runtime.effects.claim === undefined) {
    const message = `Step '${task.path}' has once: true, which needs the option \`store\` of the host.`;
    return failed(task, spec, new AuthoringError(message, { anchor: 'missing_option' }), runtime);
  }
  let isFirst: boolean;
  try {
    isFirst = await runtime.effects.claim(keyText(key));
  } catch (error) {
    // The guard failed, not the step: the body must not handle the error as a failed step.
    return { aborts: new TurnAborted(error) };
  }
  if (isFirst) {
    // An interrupted run would have claimed the key: neither the step nor a later step has run.
    task.unknown = false;
    task.interruptedTurn = undefined;
    return undefined;
  }
  const message = `Step '${task.path}' started in an earlier run, and its outcome is unknown.`;
  return { type: 'unknown', text: encodeError(new OutcomeUnknown(message)) };
}

function endOf(path: string, spec: StepSpec, result: unknown): StepEnd {
  if (!spec.keep || result === undefined) return { type: 'empty' };
  try {
    return { type: spec.compress ? 'compressed' : 'done', text: encode(result) };
  } catch (error) {
    // Reading the result may throw anything: the body gets the code `unencodable`.
    const data = toStepErrorData(error);
    // Omits the key, which may be an answer.
    const message = `Step '${spec.key === undefined ? path : spec.id}' returned a value that cannot be recorded: ${data.message}`;
    const text = encodeError({ ...data, code: 'unencodable', message });
    return { type: spec.reads ? 'failed' : 'unknown', text, error };
  }
}

type Tried = { readonly result: unknown } | { readonly thrown: unknown };

async function tryOnce(...parameters: Parameters<typeof runOnce>): Promise<Tried> {
  try {
    return { result: await runOnce(...parameters) };
  } catch (thrown) {
    return { thrown };
  }
}

const keyOf = Symbol('idempotencyKey');

// Shared by all steps: V8 keeps the getter of a literal, and what it refers to, until a full
// garbage collection.
const derivedKey: PropertyDescriptor & ThisType<{ readonly [keyOf]: StepKey }> = {
  get() {
    return keyText(this[keyOf]);
  },
  enumerable: true,
  configurable: true,
};

async function runOnce(
  task: StepRun,
  spec: StepSpec,
  given: { readonly attempt: number; readonly stepKey?: string },
  key: StepKey,
  runtime: Runtime,
  outer: AbortSignal,
): Promise<unknown> {
  const input: unknown = task.input === undefined ? undefined : JSON.parse(task.input);
  const { services } = runtime.effects;
  const { user } = runtime.request;
  const work = async (signal: AbortSignal): Promise<unknown> => {
    const made = Object.defineProperty({ input, services, user, signal, ...given }, keyOf, {
      value: key,
    });
    Object.defineProperty(made, 'idempotencyKey', derivedKey);
    return performed(runtime, 'step', task.path, spec.run, made);
  };
  const { timeoutMs } = spec;
  // Without a timeout, the attempt shares the outer signal: a second signal would cost more than
  // the rest.
  if (timeoutMs === undefined) return await work(outer);
  const attempt = new AbortController();
  const settled = new AbortController();
  const abort = (): void => attempt.abort(outer.reason);
  if (outer.aborted) abort();
  outer.addEventListener('abort', abort, { once: true });
  const working = work(attempt.signal);
  try {
    const timer = runtime.time.sleep(timeoutMs, settled.signal).then(() => {
      if (settled.signal.aborted) return undefined;
      const error = new StepError(task.path, {
        name: 'TimeoutError',
        message: `Step '${task.path}' took longer than ${timeoutMs} ms.`,
        code: 'timeout',
      });
      attempt.abort(error);
      throw error;
    });
    return await Promise.race([working, timer]);
  } finally {
    settled.abort();
    outer.removeEventListener('abort', abort);
  }
}
