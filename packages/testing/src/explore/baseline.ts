import { indented, messageOfError } from '../values/show.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertApplied } from '../run/never-applied.ts';
import type { TestSaga } from '../run/test-saga.ts';
import { explored, type Explored, type ExploreOptions } from './exploration.ts';
import { programmingError } from './programming-error.ts';

/**
 * Runs a script as it is: what its cases are compared with. What is wrong with it already is told first.
 *
 * @param check - what must hold of it, where the cases are asked the same
 * @throws SagaTestError `script` where the script lets something go wrong that never came to pass; `violated` where the saga
 *   fails by a slip of its own code, or `check` does not hold
 */
export async function baselineOf(test: TestSaga, check?: ExploreOptions['check']): Promise<Explored> {
  const baseline = await explored(test);
  assertApplied(baseline.stage);
  const slip = programmingError(baseline);
  if (slip !== undefined) throw inUndisturbed(baseline, slip.what, baseline.run.error);
  try {
    await check?.(baseline.run);
  } catch (error) {
    throw inUndisturbed(baseline, messageOfError(error), error);
  }
  return baseline;
}

function inUndisturbed({ stage }: Explored, what: string, cause: unknown): SagaTestError {
  return new SagaTestError(
    'violated',
    `In the undisturbed run: ${what}\n\nWhat happened:\n\n${indented(String(stage.trace))}`,
    { cause },
  );
}
