import { SagaError, SagaHostError, SagaLimitExceeded } from '@mcp-saga/server';
import { isAuthoringError } from '@mcp-saga/server/internal';
import { indented, messageOfError, showError } from '../values/show.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertApplied } from '../run/never-applied.ts';
import type { SagaRun } from '../run/saga-run.ts';
import type { TestSaga } from '../run/test-saga.ts';
import type { Rule } from '../script/script-rules.ts';
import { toSource } from '../script/script-source.ts';
import { explored, type Explored, type ExploreOptions, type Violation } from './exploration.ts';

/**
 * Runs a script undisturbed, as the baseline of its cases. Throws `script` if a fault never applied
 * or an expected failure did not happen, and `violated` for a mistake and for a failure that the
 * script does not expect: no case of a saga that always fails shows anything.
 */
export async function baselineOf(
  test: TestSaga,
  check?: ExploreOptions['check'],
): Promise<Explored> {
  const baseline = await explored(test);
  assertUndisturbed(test, baseline);
  try {
    await check?.(baseline.run);
  } catch (error) {
    throw inUndisturbed(baseline, messageOfError(error), error);
  }
  return baseline;
}

/** Throws unless the undisturbed run of a script ends as the script says. */
export function assertUndisturbed(test: TestSaga, baseline: Explored): void {
  const { run, world } = baseline;
  assertApplied(world);
  const { error: end } = run;
  const mistake = isOutgrown(end) ? rejected(end) : programmingError(run)?.what;
  if (mistake !== undefined) throw inUndisturbed(baseline, mistake, end);
  if (run.status !== 'completed' && !test.rules.some(isExpected))
    throw inUndisturbed(baseline, unexpected(run), end);
}

const isExpected = ({ kind }: Rule): boolean => kind === 'expectFailure';

/** Describes a failure that a script does not expect. */
function unexpected({ status, error }: SagaRun): string {
  const how = status === 'refused' ? 'the host refuses a request' : 'the saga fails';
  return (
    `${how}: ${showError(error)}\n\nAn explorer compares its cases with a run that completes. Give the script the answers and the ` +
    `stand-ins that it needs. If the run is meant to fail, say so: .expectFailure(${toSource(failureReason(error))})`
  );
}

/** Reason that tells an expected failure from others: its code, or the first line of its message. */
export function failureReason(error: unknown): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  // All steps whose error has no code fail with this one.
  if (typeof code === 'string' && code !== 'step_failed') return code;
  const [line = ''] = messageOfError(error).split('\n', 1);
  return line === '' ? String(name) : line;
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

/** Throws `no_cases` if an explorer has nothing to try. Its success would show nothing. */
export function assertCases(of: string, cases: readonly unknown[], why: string): void {
  if (cases.length > 0) return;
  throw new SagaTestError('no_cases', `${of} has no case to try: ${why}`);
}
