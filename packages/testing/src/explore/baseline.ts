import { assertApplied } from '../never-applied.ts';
import type { TestSaga } from '../test-saga.ts';
import { explored, type Explored } from './exploration.ts';

/**
 * Runs a script as it is: what its cases are compared with.
 *
 * @throws SagaTestError `script` where the script lets something go wrong that never came to pass
 */
export async function baselineOf(test: TestSaga): Promise<Explored> {
  const baseline = await explored(test);
  assertApplied(baseline.stage);
  return baseline;
}
