import type { Runtime } from './program.ts';
import type { StepCall, StepGiven } from './step-call.ts';
import { undoMark } from './undo.ts';

/** Runs the code of a step, a poll or a fallback, or has the runtime run it. */
export function performed(
  runtime: Pick<Runtime, 'perform'>,
  kind: StepCall['kind'],
  path: string,
  code: (step: never) => unknown,
  step: StepGiven,
): unknown {
  const run = code as StepCall['run'];
  if (runtime.perform === undefined) return run(step);
  return runtime.perform({ kind, path, undoes: undoneBy(path), step, run });
}

/** What an undo undoes: `~charge` the step `charge`; `~charge/look` is a step of that undo. */
function undoneBy(path: string): string | undefined {
  return path.startsWith(undoMark) ? path.slice(undoMark.length) : undefined;
}
