import { showError } from '../values/show.ts';
import type { Explored, Violation } from './exploration.ts';

const slips = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError']);

/** What is wrong with a saga that fails by a slip of its own code, where without the case, if there is one, it does not. */
export function programmingError({ run, stage }: Explored, baseline?: Explored): Violation | undefined {
  const { error } = run;
  if (run.status !== 'failed' || !(error instanceof Error) || !slips.has(error.name)) return undefined;
  if (baseline?.run.status === 'failed') return undefined;
  // What a step threw reaches the saga as a StepError that has its name: the script or the step's code did that.
  const { stepId } = error as { readonly stepId?: unknown };
  if (
    typeof stepId === 'string' ||
    stage.trace.some((entry) => entry.type === 'failed' && entry.error === error)
  ) {
    return undefined;
  }
  const where = /^\s+at .*?\(?((?:file:\/\/)?\/[^)\s]+)\)?$/m.exec(error.stack ?? '')?.[1];
  return {
    what: `its body throws a ${showError(error)}${where === undefined ? '' : ` (${where})`}. It does not reckon with that.`,
    expects: `expect(run.error).not.toMatchObject({ name: '${error.name}' });`,
  };
}
