import type { Runtime } from '../model/runtime.ts';
import type { Json } from '../values/json.ts';
import { encodeError } from '../values/step-error-data.ts';
import { checkedAnswer } from './accept-answer.ts';
import { effectOf, type EffectSpec } from './effect-of.ts';
import type { Acceptance, EffectTask, TaskEnd } from './parts/effect.ts';
import { ended } from './parts/entries.ts';

/** Runs a task that does not wait for the client. Never rejects. */
export async function runTask(
  task: EffectTask<EffectSpec>,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<TaskEnd> {
  const { spec, path } = task;
  try {
    const { run } = effectOf(spec);
    return run === undefined
      ? await answerHere(spec, path, runtime, signal)
      : await run(task, runtime, signal);
  } catch (error) {
    runtime.threw?.(path, error);
    return ended(task.unknown ? 'unknown' : 'failed', encodeError(error));
  }
}

/**
 * Answers a question by its fallback or the host's model, with the checks of client answers; kept away from client bytes.
 * Throws what the fallback throws, and if the answer does not fit.
 */
export async function answerHere(
  spec: EffectSpec,
  path: string,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Extract<Acceptance, { entry: unknown }>> {
  const answers = effectOf(spec).question?.answerHere;
  if (answers === undefined) throw new TypeError(`${spec.kind} does not run here`);
  const facts = { kind: spec.kind, path, attempt: 1 };
  runtime.observe({ ...facts, type: 'started' });
  try {
    const idempotencyKey = await runtime.idempotencyKey(path, undefined, 'do');
    const given = await answers.run(spec, path, runtime, {
      context: runtime.context,
      signal,
      idempotencyKey,
    });
    // As it would have come over the wire.
    const result = JSON.parse(JSON.stringify(given)) as Json;
    const answer = await checkedAnswer(spec, { result, provenance: 'server' });
    if ('reason' in answer) throw new TypeError(`The answer to '${path}' does not fit: ${answer.reason}`);
    runtime.observe({ ...facts, type: 'succeeded' });
    return { ...answer, entry: { ...answer.entry, type: answers.type } };
  } catch (error) {
    runtime.observe({ ...facts, type: 'failed', error });
    throw error;
  }
}
