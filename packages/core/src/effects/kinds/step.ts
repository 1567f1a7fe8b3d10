import type { StepUndo } from '../../model/command.ts';
import type { Runtime } from '../../model/runtime.ts';
import { undoMark } from '../../values/path.ts';
import { OutcomeUnknown, StepError, TurnAborted, AuthoringError } from '../../values/errors.ts';
import { encode } from '../../values/codec.ts';
import type { Json } from '../../values/json.ts';
import { delayAfter, type RetryPolicy } from '../../values/retry.ts';
import { encodeError, toStepErrorData } from '../../values/step-error-data.ts';
import type { Effect, EffectTask, Spec } from '../parts/effect.ts';
import { ended } from '../parts/entries.ts';
import { performed } from '../parts/run-code.ts';

/** Runs a side effect on the server. */
export interface StepSpec extends Spec {
  readonly kind: 'step';
  readonly run: (context: never) => unknown;
  readonly input: Json | undefined;
  readonly key: string | undefined;
  readonly keep: boolean;
  readonly compress: boolean;
  readonly once: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly timeoutMs: number | undefined;
  readonly undo: StepUndo | undefined;
  /** The step that this one undoes. */
  readonly of: { readonly path: string; readonly key: string | undefined } | undefined;
}

/** A side effect on the server. */
export const step: Effect<StepSpec> = {
  place: 'server',
  entries: ['done', 'compressed', 'empty', 'failed', 'retry', 'withdrawn', 'unknown'],
  request: ({ input }) => (input === undefined ? nothing : [input]),
  // The undo of a step keeps nothing by nature.
  newRequest: ({ keep, of }) => (!keep && of === undefined ? 'keep: false' : undefined),
  run: async (task, runtime, signal) => {
    const done = await runStep(task, task.spec, runtime, signal);
    if ('aborts' in done) return { entry: undefined, value: undefined, ...done };
    return 'text' in done ? ended(done.type, done.text) : { entry: { type: done.type }, value: undefined };
  },
  needsForks: ({ undo, once }) => undo !== undefined || once,
};

const nothing: readonly unknown[] = [];

/** What became of running a server step. */
export type StepEnd =
  | { readonly type: 'done' | 'compressed'; readonly text: string }
  | { readonly type: 'empty' }
  | { readonly type: 'failed' | 'unknown'; readonly text: string; readonly error?: unknown }
  | { readonly type: 'retry'; readonly text: string };

/** A server step that shall run once, and could not be claimed: it has not run, and its turn cannot go on. */
export interface StepUnclaimed {
  readonly aborts: TurnAborted;
}

/** A run of a server step: what it works on, and what came of the attempts before. `unknown` is brought up to date. */
export type StepRun = Omit<EffectTask<StepSpec>, 'spec' | 'asked'>;

/**
 * Runs a server step with its attempts, backoff, and timeout. Never rejects. A backoff beyond the turn ends the run with the
 * time of the next attempt.
 */
export async function runStep(
  task: StepRun,
  spec: StepSpec,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StepEnd | StepUnclaimed> {
  const undoes = task.path.startsWith(undoMark);
  const idempotencyKey = await runtime.idempotencyKey(task.path, spec.key, undoes ? 'undo' : 'do');
  const { of } = spec;
  const stepKey = of === undefined ? {} : { stepKey: await runtime.idempotencyKey(of.path, of.key, 'do') };
  // What is not going to run is not claimed: nobody would ever know that it did not.
  if (signal.aborted) return later(task, task.attempts, 0);
  const refused = await claimOnce(task, spec, runtime, idempotencyKey);
  if (refused !== undefined) return refused;
  for (let attempt = task.attempts + 1; ; attempt += 1) {
    // A sibling failed, or the request was aborted, while the key was derived: it has not run, and will not.
    if (signal.aborted) return later(task, attempt - 1, 0);
    const facts = { kind: 'step', path: task.path, attempt };
    runtime.observe({ ...facts, type: 'started' });
    // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
    const tried = await tryOnce(task, spec, { attempt, idempotencyKey, ...stepKey }, runtime, signal);
    if ('result' in tried) {
      // The effect has happened: where its result cannot be kept, to try again would only make it happen twice.
      const end = endOf(task.path, spec, tried.result);
      const type = 'error' in end ? 'failed' : 'succeeded';
      runtime.observe({ ...facts, type, ...('error' in end ? { error: end.error } : {}) });
      if ('error' in end) runtime.threw?.(task.path, end.error);
      return end;
    }
    // What may have happened in one attempt may have happened, however the next one ends. (E4)
    task.unknown ||= signal.aborted || isUnknown(tried.thrown);
    const { delay, error } = signal.aborted
      ? { error: tried.thrown }
      : again(spec.retry ?? task.retry, attempt, tried.thrown, runtime);
    if (delay === undefined) {
      runtime.observe({ ...facts, type: 'failed', error });
      return failed(task, error, runtime);
    }
    const notBefore = runtime.now() + delay;
    // No token is good then. To undo may take longer than the saga lives.
    if (!undoes && notBefore > (runtime.lifeEndsAt ?? notBefore)) {
      runtime.observe({ ...facts, type: 'failed', error });
      return failed(task, error, runtime);
    }
    runtime.observe({ ...facts, type: 'retrying', error });
    if (isForLater(notBefore, delay, runtime)) return later(task, attempt, notBefore);
    // oxlint-disable-next-line no-await-in-loop -- backoff
    await runtime.sleep(delay, signal);
    if (signal.aborted) return failed(task, error, runtime);
  }
}

/** Whether a step is tried again, and after how long; or what it has failed with. */
function again(
  policy: RetryPolicy | undefined,
  attempt: number,
  error: unknown,
  runtime: Runtime,
): { readonly delay?: number | undefined; readonly error: unknown } {
  try {
    return { delay: delayAfter(policy, attempt, error, () => runtime.random()), error };
  } catch (thrown) {
    // By the author's `when`. What the attempt has done, it has done all the same.
    return { error: thrown };
  }
}

/** Whether a backoff is waited for in another turn. */
function isForLater(notBefore: number, delay: number, runtime: Runtime): boolean {
  const { deadline, maxHold, commitsEach } = runtime;
  return commitsEach || (deadline !== undefined && (notBefore > deadline || delay > maxHold));
}

/** The entry of a step that another turn tries again. */
export function later(
  { unknown, interruptedTurn }: StepRun,
  attempts: number,
  notBefore: number,
): Extract<StepEnd, { readonly type: 'retry' }> {
  const entry = [attempts, notBefore, unknown];
  return { type: 'retry', text: encode(interruptedTurn === undefined ? entry : [...entry, interruptedTurn]) };
}

function failed(task: StepRun, error: unknown, runtime: Runtime): StepEnd {
  runtime.threw?.(task.path, error);
  return { type: task.unknown ? 'unknown' : 'failed', text: encodeError(error) };
}

/** Whether an error says that the effect may have happened: nobody heard the end of it. */
function isUnknown(error: unknown): boolean {
  const { name, code } = toStepErrorData(error);
  return code === 'timeout' || code === 'outcome_unknown' || name === 'AbortError' || name === 'TimeoutError';
}

/** Claims the key of a step that shall run once; where it was claimed before, nobody knows what became of it. */
async function claimOnce(
  task: StepRun,
  spec: StepSpec,
  runtime: Runtime,
  key: string,
): Promise<StepEnd | StepUnclaimed | undefined> {
  if (!spec.once || task.attempts > 0) return undefined;
  if (runtime.claim === undefined) {
    const message = `Step '${task.path}' shall run once: that needs a guard on the host.`;
    return failed(task, new AuthoringError(message), runtime);
  }
  let isFirst: boolean;
  try {
    isFirst = await runtime.claim(key);
  } catch (error) {
    // That who keeps the claims is down is no fault of the step's: its body must not take it for one.
    return { aborts: new TurnAborted(error) };
  }
  if (isFirst) {
    // An interrupted run would have claimed it: the step has not run, and neither has what follows it. (E9)
    task.unknown = false;
    task.interruptedTurn = undefined;
    return undefined;
  }
  const message = `Step '${task.path}' was begun before, and what became of it is not known.`;
  return { type: 'unknown', text: encodeError(new OutcomeUnknown(message)) };
}

function endOf(path: string, spec: StepSpec, result: unknown): StepEnd {
  if (!spec.keep || result === undefined) return { type: 'empty' };
  try {
    return { type: spec.compress ? 'compressed' : 'done', text: encode(result) };
  } catch (error) {
    // Reading the result may throw anything; what the body is told is that it cannot be kept.
    const data = toStepErrorData(error);
    // Without the key, which may be an answer.
    const message = `Step '${spec.key === undefined ? path : spec.id}' returned what cannot be kept: ${data.message}`;
    return { type: 'unknown', text: encodeError({ ...data, code: 'unencodable', message }), error };
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

async function runOnce(
  task: StepRun,
  spec: StepSpec,
  facts: { readonly attempt: number; readonly idempotencyKey: string; readonly stepKey?: string },
  runtime: Runtime,
  outer: AbortSignal,
): Promise<unknown> {
  const input: unknown = task.input === undefined ? undefined : JSON.parse(task.input);
  const work = async (signal: AbortSignal): Promise<unknown> =>
    performed(runtime, 'step', task.path, spec.run, { ...facts, input, context: runtime.context, signal });
  const { timeoutMs } = spec;
  // Without a timeout there is nothing that ends an attempt alone: a signal of its own would cost more than the rest.
  if (timeoutMs === undefined) return await work(outer);
  const attempt = new AbortController();
  const settled = new AbortController();
  const abort = (): void => attempt.abort(outer.reason);
  if (outer.aborted) abort();
  outer.addEventListener('abort', abort, { once: true });
  const working = work(attempt.signal);
  try {
    const timer = runtime.sleep(timeoutMs, settled.signal).then(() => {
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
