import type { Runtime } from '../model/runtime.ts';
import { encodeError } from '../values/step-error-data.ts';
import { answerHere } from './answer-on-server.ts';
import { effectOf, type EffectSpec } from './effect-of.ts';
import type { EffectTask, TaskEnd } from './parts/effect.ts';
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
    return ended(task.unknown ? 'failedUnknown' : 'failed', encodeError(error));
  }
}
