import { SagaTestError } from '../errors.ts';
import { improvise } from '../improvise.ts';
import type { SagaRun } from '../saga-run.ts';
import { Stage } from '../stage.ts';
import { TestSaga, type Script } from '../test-saga.ts';

/** What those who explore may be told. */
export interface ExploreOptions<Run = SagaRun> {
  /**
   * Steps that only read, or that nobody minds to find done twice or not undone: not held against the saga. Ids, or their
   * beginnings with `*`.
   */
  readonly harmless?: readonly string[];
  /** What must hold after each case, in your own words: throws where it does not. Sees the fakes as the case left them. */
  readonly check?: (run: Run) => unknown;
}

/** What an exploration found when it found nothing wrong. */
export interface ExploreReport {
  /** How many cases were run, the saga undisturbed not counted. */
  readonly cases: number;
}

/** A case: a script with one thing that goes wrong in it. */
export interface Case {
  /** What goes wrong, as a sentence begins: `When the process dies after 'charge'`. */
  readonly when: string;
  readonly test: TestSaga;
  /** Of two cases that find something, the one of the lower rank is told first. Default 0. */
  readonly rank?: number;
}

/** What a run of a case came to. */
export interface Explored {
  readonly run: SagaRun;
  readonly stage: Stage;
}

/** What is wrong with a case. */
export interface Finding {
  readonly case: Case;
  readonly what: string;
  readonly story: string | undefined;
  readonly cause?: unknown;
}

/** A script as those who explore go on writing it. */
export function scriptOf({ saga, options, rules }: Script): TestSaga {
  return new TestSaga(saga, options, rules);
}

/** Runs a script, with what it does not foresee answered in the simplest way. */
export async function explored(test: TestSaga, prepare?: (stage: Stage) => void): Promise<Explored> {
  const stage = new Stage(test.options, test.rules);
  stage.improvise = improvise;
  prepare?.(stage);
  return { run: await test.runOn(stage), stage };
}

/** Runs a case, and says what is wrong with it. */
export async function judged(
  each: Case,
  options: ExploreOptions,
  judge: (explored: Explored) => string | undefined,
  prepare?: (stage: Stage) => void,
): Promise<Finding | undefined> {
  let seen: Stage | undefined;
  try {
    const { run, stage } = await explored(each.test, (stage_) => {
      seen = stage_;
      prepare?.(stage_);
    });
    const what = judge({ run, stage });
    if (what !== undefined) return { case: each, what, story: String(run.trace) };
    await options.check?.(run);
    return undefined;
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return { case: each, what, story: seen === undefined ? undefined : String(seen.trace), cause: error };
  }
}

/**
 * Throws where something was found: the smallest case, as a script to paste, with its story.
 *
 * @throws SagaTestError `violated`
 */
export function assertNothingFound(findings: readonly Finding[], cases: number): void {
  const [smallest] = findings.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || sizeOf(one) - sizeOf(other),
  );
  if (smallest === undefined) return;
  const others = findings.filter((finding) => finding !== smallest);
  const lines = [
    `${smallest.case.when}: ${smallest.what}`,
    '',
    'The smallest case, to paste into a test:',
    '',
    indented(String(smallest.case.test)),
  ];
  if (smallest.story !== undefined) lines.push('', 'What happened:', '', indented(smallest.story));
  if (others.length > 0) {
    lines.push('', `${others.length + 1} of ${cases} cases fail. The others:`, '');
    lines.push(...others.slice(0, 10).map((finding) => `    ${finding.case.when}`));
    if (others.length > 10) lines.push('    …');
  }
  throw new SagaTestError('violated', lines.join('\n'), { cause: smallest.cause });
}

/** Whether a step was declared harmless. */
export function isHarmless(id: string, { harmless = [] }: Pick<ExploreOptions, 'harmless'>): boolean {
  return harmless.some((each) => (each.endsWith('*') ? id.startsWith(each.slice(0, -1)) : each === id));
}

function rankOf({ case: { rank = 0 } }: Finding): number {
  return rank;
}

function sizeOf({ story }: Finding): number {
  return story?.length ?? 0;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
