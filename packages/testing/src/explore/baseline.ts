import { indented, messageOfError, showError } from '../values/show.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertApplied } from '../run/never-applied.ts';
import type { TestSaga } from '../run/test-saga.ts';
import { explored, type Explored, type ExploreOptions, type Violation } from './exploration.ts';

/** Runs a script undisturbed, to compare its cases with. Throws `script` if a fault never applied, `violated` for a mistake. */
export async function baselineOf(test: TestSaga, check?: ExploreOptions['check']): Promise<Explored> {
  const baseline = await explored(test);
  assertApplied(baseline.world);
  const slip = programmingError(baseline);
  if (slip !== undefined) throw inUndisturbed(baseline, slip.what, baseline.run.error);
  try {
    await check?.(baseline.run);
  } catch (error) {
    throw inUndisturbed(baseline, messageOfError(error), error);
  }
  return baseline;
}

function inUndisturbed({ world }: Explored, what: string, cause: unknown): SagaTestError {
  return new SagaTestError(
    'violated',
    `In the undisturbed run: ${what}\n\nWhat happened:\n\n${indented(String(world.trace))}`,
    { cause },
  );
}

const slips = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError']);

/** Reports a saga that fails by a mistake in its own code, unless the undisturbed saga fails too. */
export function programmingError({ run, world }: Explored, baseline?: Explored): Violation | undefined {
  const { error } = run;
  if (run.status !== 'failed' || !(error instanceof Error) || !slips.has(error.name)) return undefined;
  if (baseline?.run.status === 'failed') return undefined;
  // What a step threw reaches the saga as a StepError that has its name: the script or the step's code did that.
  const { stepId } = error as { readonly stepId?: unknown };
  if (
    typeof stepId === 'string' ||
    world.trace.some((entry) => entry.type === 'failed' && entry.error === error)
  ) {
    return undefined;
  }
  const where = /^\s+at .*?\(?((?:file:\/\/)?\/[^)\s]+)\)?$/m.exec(error.stack ?? '')?.[1];
  return {
    what: `its body throws a ${showError(error)}${where === undefined ? '' : ` (${where})`}. It does not reckon with that.`,
    expects: `expect(run.error).not.toMatchObject({ name: '${error.name}' });`,
  };
}
