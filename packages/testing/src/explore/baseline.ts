import { SagaError, SagaHostError, SagaLimitExceeded } from '@mcp-saga/server';
import { isAuthoringError } from '@mcp-saga/server/internal';
import { indented, messageOfError, showError } from '../values/show.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertApplied } from '../run/never-applied.ts';
import type { SagaRun } from '../run/saga-run.ts';
import type { TestSaga } from '../run/test-saga.ts';
import { explored, type Explored, type ExploreOptions, type Violation } from './exploration.ts';

/**
 * Runs a script undisturbed, as the baseline of its cases. Throws `script` if a fault never
 * applied, `violated` for a mistake.
 */
export async function baselineOf(
  test: TestSaga,
  check?: ExploreOptions['check'],
): Promise<Explored> {
  const baseline = await explored(test);
  assertApplied(baseline.world);
  const { error: end } = baseline.run;
  const mistake = isOutgrown(end) ? rejected(end) : programmingError(baseline.run)?.what;
  if (mistake !== undefined) throw inUndisturbed(baseline, mistake, end);
  try {
    await check?.(baseline.run);
  } catch (error) {
    throw inUndisturbed(baseline, messageOfError(error), error);
  }
  return baseline;
}

/** `true` if the saga outgrew its token or a limit: without any fault, it never succeeds. */
function isOutgrown(error: unknown): error is Error {
  if (error instanceof SagaHostError) return error.code === 'token_too_large';
  return error instanceof SagaLimitExceeded;
}

function inUndisturbed({ world }: Explored, what: string, cause: unknown): SagaTestError {
  return new SagaTestError(
    'violated',
    `In the undisturbed run: ${what}\n\nWhat happened:\n\n${indented(String(world.trace))}`,
    { cause },
  );
}

const slips = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError']);

/**
 * Reports a saga that fails by a mistake in its code, unless the undisturbed saga fails by one,
 * too.
 */
export function programmingError(run: SagaRun, baseline?: SagaRun): Violation | undefined {
  const { error } = run;
  if (run.status !== 'failed' || !(error instanceof Error)) return undefined;
  const what = isRejected(error) ? rejected(error) : slip(error, run);
  if (what === undefined || (baseline !== undefined && programmingError(baseline) !== undefined))
    return undefined;
  return { what, expects: `expect(run.error).not.toMatchObject({ name: '${error.name}' });` };
}

/** `true` if the engine or the host rejected the code of the saga or its result. */
function isRejected(error: Error): boolean {
  // A step may throw an error with any code.
  return (
    (error instanceof SagaError && error.code === 'invalid_result' && !('stepId' in error)) ||
    isAuthoringError(error)
  );
}

function rejected(error: Error): string {
  return `it fails because of a mistake in its code: ${showError(error)}`;
}

/** Frame of a stack, with its place. */
const frame = /^\s+at (?:async )?(?:.*? \()?(.+:\d+:\d+)\)?$/gm;
/** Places outside of the code of the author: in a bundle of a page, the runtime, or a package. */
const foreign = /^(?:https?:|node:|eval at |<)|\/node_modules\//;

/** Describes an error that the body throws by mistake. */
function slip(error: Error, { trace }: SagaRun): string | undefined {
  // An error of a step reaches the saga as a StepError of the same name: no mistake of the body.
  const isOfStep =
    'stepId' in error || trace.some((entry) => entry.type === 'failed' && entry.error === error);
  if (!slips.has(error.name) || isOfStep) return undefined;
  const places = Array.from((error.stack ?? '').matchAll(frame), ([, place = '']) => place);
  const where = places.find((place) => !foreign.test(place));
  return `its body throws a ${showError(error)}${where === undefined ? '' : ` (${where})`}, a mistake in its code.`;
}
