import type { NamesOf } from '@mcp-saga/server/internal';
import { indented, messageOfError } from '../values/show.ts';
import { ReplayMismatch, type ClientStep, type Program } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { begin, play } from '../run/play.ts';
import { SagaRun } from '../run/saga-run.ts';
import { Serving } from '../run/run-host.ts';
import { World } from '../world/world.ts';
import { autoAnswerOn, hasChanged } from '../world/world-answers.ts';
import { TestSaga, type Script } from '../run/test-saga.ts';
import { Trace } from '../report/trace.ts';
import { assertSaga } from '../values/known-options.ts';
import { assertCases, assertUndisturbed, baselineOf } from './baseline.ts';
import {
  explored,
  scriptOf,
  withAnswers,
  withoutAutoAnswers,
  type ExploreReport,
} from './exploration.ts';
import { withoutToken } from './fork-everywhere.ts';
import { isSameMessage, shrunk } from './shrink.ts';
import {
  cannotGoOn,
  linesOf,
  textsIn,
  type Texts,
  type UpgradeProblem,
} from './upgrade-problem.ts';

/** Options of `upgradeEverywhere`. */
export interface UpgradeOptions {
  /** Returns the problems instead of throwing. Default false. */
  readonly reportOnly?: boolean;
  /** Throws if an upgraded run is wrong. */
  readonly check?: (run: SagaRun) => unknown;
}

const upgradeNames: NamesOf<UpgradeOptions> = { reportOnly: true, check: true };

/** Result of `upgradeEverywhere`. */
export interface UpgradeReport extends ExploreReport {
  readonly problems: readonly UpgradeProblem[];
}

/**
 * Runs a script with the old code up to each of its tokens, and continues with the new code, as a
 * deployment does with sagas in flight. Ignores `until` of the new code unless the script sets a
 * `clock`.
 * @throws SagaTestError `violated`: each token that the new code cannot continue, side by side, and
 * the smallest script for the first one
 * @example
 * ```ts
 * import { elicit, saga } from '@mcp-saga/server';
 *
 * const order = (message: string) =>
 *   saga({ name: 'order', version: '1' }, function* () {
 *     yield* elicit('sure', { message, schema: z.object({ sure: z.boolean() }) });
 *     return 'done';
 *   });
 * const script = testSaga(order('Sure?')).on.elicit('sure', { sure: true });
 * await upgradeEverywhere(script, order('Really?'));
 * ```
 */
export async function upgradeEverywhere(
  script: Script,
  next: Program,
  options: UpgradeOptions = {},
): Promise<UpgradeReport> {
  const old = scriptOf('upgradeEverywhere', script, options, upgradeNames);
  assertSaga('upgradeEverywhere', next);
  const { run: baseline, world } = await baselineOf(old);
  assertCases('upgradeEverywhere', baseline.points, withoutToken);
  const problems: UpgradeProblem[] = [];
  let first: Upgraded | undefined;
  for (const index of baseline.points.keys()) {
    const each = await upgraded(old, next, index, baseline, options);
    if (each.problem !== undefined) problems.push(each.problem);
    if (each.what !== undefined && (each.problem === undefined || options.reportOnly !== true))
      first ??= each;
  }
  if (first !== undefined) {
    const autoAnswered = [...world.autoAnswered, ...first.world.autoAnswered];
    const smallest = await smallestOf(withAnswers(old, autoAnswered), next, first, options);
    const told =
      first.problem === undefined
        ? `When version '${next.version}' continues after turn ${baseline.points[first.index]?.turn}: ${first.what}`
        : cannotGoOn(old.saga, next, problems, {
            old: textsIn(baseline.trace),
            next: await textsOf(new TestSaga(next, old.options, old.rules)),
          });
    throw new SagaTestError(
      'violated',
      `${told}\n\nThe smallest case, to paste into a test, with the new code as \`next\`:\n\n` +
        `${indented(`const script = ${smallest.source};\nawait upgradeEverywhere(script, next);`)}\n\n` +
        `What happened:\n\n${indented(String(first.world.trace))}`,
      { cause: first.cause },
    );
  }
  return { cases: baseline.points.length, problems };
}

/** Upgraded run after a token. `what` describes its problem. */
type Upgraded = Readonly<{
  world: World;
  index: number;
  problem?: UpgradeProblem;
  what?: string;
  cause?: unknown;
}>;

async function upgraded(
  old: TestSaga,
  next: Program,
  index: number,
  baseline: SagaRun,
  options: UpgradeOptions,
  prepare?: (world: World) => void,
): Promise<Upgraded> {
  const world = new World(old.options, old.rules);
  autoAnswerOn(world);
  prepare?.(world);
  world.mayMismatch = true;
  await begin(world, old.saga);
  const before = new Serving(old.saga, world);
  const to = new Serving(
    old.options.clock === undefined ? withoutUntil(next) : next,
    world,
    before,
  );
  const handover = { at: index + 1, to };
  const { turn = 0, asked: questions = [] } = baseline.points[index] ?? {};
  const waitedFor = questions.map(({ stepId }) => stepId);
  const found = (error: unknown): Upgraded => {
    const { recorded, asked = [] } = error instanceof ReplayMismatch ? error : {};
    const problem = { turn, waitedFor, recorded, asked, error };
    return { world, index, problem, what: linesOf(problem).join(' '), cause: error };
  };
  let run: SagaRun;
  try {
    run = new SagaRun(next, world, to, await play(old.saga, world, before, { handover }));
  } catch (error) {
    const { stepId, reason } = rejectedIn(world, error) ?? {};
    if (stepId === undefined) throw error;
    const what = `the new code rejects the answer to '${stepId}', and asks again: ${reason}`;
    if (waitedFor.includes(stepId))
      return found(new SagaTestError('answer_not_accepted', what, { cause: error }));
    // The token that waits for the question has the problem.
    if (baseline.points.some(({ asked }) => asked.some((step) => step.stepId === stepId)))
      return { world, index };
    throw error;
  }
  const { status, error } = run;
  const refusal = status === 'refused' ? unserved(old.saga, next, error) : undefined;
  if (isProblem(run, baseline)) return found(refusal ?? error);
  try {
    await options.check?.(run);
    return { world, index };
  } catch (thrown) {
    return { world, index, what: messageOfError(thrown), cause: thrown };
  }
}

/** Question of the new code that rejects its answer; undefined for another error. */
function rejectedIn({ points }: World, error: unknown): ClientStep | undefined {
  if (!(error instanceof SagaTestError && error.code === 'answer_not_accepted')) return undefined;
  return points.at(-1)?.asked.find(({ reason }) => reason !== undefined && !hasChanged(reason));
}

/** Error for a name or a version that the new code does not serve. */
function unserved(
  old: Program,
  { name, version, previous }: Program,
  cause: unknown,
): SagaTestError | undefined {
  const versions = [version, ...previous.map(({ saga }) => saga.version)];
  if (name === old.name && versions.includes(old.version)) return undefined;
  const what = name === old.name ? `version '${old.version}'` : `the saga '${old.name}'`;
  const is = `the new code is version '${version}' of '${name}'`;
  return new SagaTestError('violated', `${is}, and does not serve ${what}.`, { cause });
}

/**
 * Serves older versions at any time: the default clock of a run is later than a date of today's
 * code.
 */
function withoutUntil(next: Program): Program {
  return { ...next, previous: next.previous.map(({ saga }) => ({ saga })) };
}

/** Questions of the new code from its start. */
async function textsOf(script: TestSaga): Promise<Texts> {
  let world: World | undefined;
  await explored(script, (each) => (world = each)).catch(() => undefined);
  return textsIn(world?.trace ?? new Trace());
}

/** The script, with missing answers and without unneeded lines. */
async function smallestOf(
  script: TestSaga,
  next: Program,
  { index, what = '' }: Upgraded,
  options: UpgradeOptions,
): Promise<TestSaga> {
  const again = async (smaller: TestSaga): Promise<true | undefined> => {
    const here = await explored(smaller);
    assertUndisturbed(smaller, here);
    const { run: baseline } = here;
    const each = await upgraded(smaller, next, index, baseline, options, withoutAutoAnswers);
    return each.what !== undefined && isSameMessage(each.what, what) ? true : undefined;
  };
  return (await shrunk({ script, found: true }, again)).script;
}

function isProblem({ status, error }: SagaRun, baseline: SagaRun): boolean {
  if (error instanceof ReplayMismatch || status === 'refused') return true;
  return status === 'failed' && baseline.status === 'completed';
}
