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
 * Answers a question here, in the client's stead: with its fallback, or by sampling at the host. It is checked like
 * what a client sends, and stands where the client's bytes do not, since the client does not know it (T10). (W3)
 *
 * @throws whatever the fallback throws, and where the answer does not fit
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
