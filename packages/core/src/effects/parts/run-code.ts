import { withinGrace } from './abort-grace.ts';
import type { Runtime } from '../../model/runtime.ts';
import type { StepCall, StepGiven } from '../../model/step-call.ts';
import { undoMark } from '../../values/path.ts';

/** Runs the code of a step, poll, or fallback, or lets the runtime run it. Throws OutcomeUnknown if aborted code never settles. */
export function performed(
  runtime: Pick<Runtime, 'perform' | 'signal' | 'sleep'>,
  kind: StepCall['kind'],
  path: string,
  code: (step: never) => unknown,
  step: StepGiven,
): unknown {
  const run = code as StepCall['run'];
  const working =
    runtime.perform === undefined
      ? run(step)
      : runtime.perform({
          kind,
          path,
          undoes: path.startsWith(undoMark) ? path.slice(undoMark.length) : undefined,
          step,
          run,
        });
  return isPromise(working) ? withinGrace(`The ${kind} '${path}'`, working, runtime) : working;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
