import { encode } from './codec.ts';
import type { StepSpec } from './command-spec.ts';
import { StepError, toStepErrorData } from './errors.ts';
import type { Task } from './fiber.ts';
import type { Runtime } from './program.ts';
import { delayAfter } from './retry.ts';

/** What became of running a server step. */
export type StepEnd =
  | { readonly letter: 's' | 'z'; readonly text: string }
  | { readonly letter: 'v' }
  | { readonly letter: 'f'; readonly text: string }
  | { readonly letter: 't'; readonly text: string; readonly attempts: number; readonly notBefore: number };

/**
 * Runs a server step, with its attempts, backoff and timeout (E2). Never rejects. A backoff that the turn has no time
 * for ends the run with the time of the next attempt; the turn makes a checkpoint of it.
 */
export async function runStep(
  task: Task,
  spec: StepSpec,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StepEnd> {
  const idempotencyKey = await runtime.idempotencyKey(task.path, spec.key, 'do');
  for (let attempt = task.attempts + 1; ; attempt += 1) {
    const facts = { kind: 'step', path: task.path, attempt };
    runtime.observe({ ...facts, type: 'started' });
    let thrown: unknown;
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      const result = await runOnce(task.path, spec, { attempt, idempotencyKey }, runtime, signal);
      const end = encoded(spec, result);
      runtime.observe({ ...facts, type: 'succeeded' });
      return end;
    } catch (error) {
      thrown = error;
    }
    // The effect has happened: to try again would only make it happen twice.
    const final = isUnencodable(thrown) || signal.aborted;
    const delay = final ? undefined : delayAfter(spec.retry, attempt, thrown, () => runtime.random());
    if (delay === undefined) {
      runtime.observe({ ...facts, type: 'failed', error: thrown });
      return { letter: 'f', text: encodeError(thrown) };
    }
    runtime.observe({ ...facts, type: 'retrying', error: thrown });
    const notBefore = runtime.now() + delay;
    if (runtime.deadline !== undefined && notBefore > runtime.deadline) {
      return { letter: 't', text: encode([attempt, notBefore]), attempts: attempt, notBefore };
    }
    // oxlint-disable-next-line no-await-in-loop -- backoff
    await runtime.sleep(delay, signal);
    if (signal.aborted) return { letter: 'f', text: encodeError(thrown) };
  }
}

function encoded(spec: StepSpec, result: unknown): StepEnd {
  if (!spec.keep || result === undefined) return { letter: 'v' };
  return { letter: spec.compress ? 'z' : 's', text: encode(result) };
}

/** A thrown value as the journal keeps it. `data` that cannot be encoded is left out. */
export function encodeError(thrown: unknown): string {
  const data = toStepErrorData(thrown);
  try {
    return encode(data);
  } catch {
    const { data: _, ...rest } = data;
    return encode(rest);
  }
}

function isUnencodable(thrown: unknown): boolean {
  return (thrown as { code?: unknown } | undefined)?.code === 'unencodable';
}

async function runOnce(
  path: string,
  spec: StepSpec,
  facts: { readonly attempt: number; readonly idempotencyKey: string },
  runtime: Runtime,
  outer: AbortSignal,
): Promise<unknown> {
  const attempt = new AbortController();
  const settled = new AbortController();
  const abort = (): void => attempt.abort(outer.reason);
  if (outer.aborted) abort();
  outer.addEventListener('abort', abort, { once: true });
  try {
    const context = { ...facts, input: spec.input, context: runtime.context, signal: attempt.signal };
    const work = (async () => spec.run(context as never))();
    const { timeout } = spec;
    if (timeout === undefined) return await work;
    const timer = runtime.sleep(timeout, settled.signal).then(() => {
      if (settled.signal.aborted) return undefined;
      const error = new StepError(path, {
        name: 'TimeoutError',
        message: `Step '${path}' took longer than ${timeout} ms.`,
        code: 'timeout',
      });
      attempt.abort(error);
      throw error;
    });
    return await Promise.race([work, timer]);
  } finally {
    settled.abort();
    outer.removeEventListener('abort', abort);
  }
}
