import { ReplayMismatch, type Program, type StepFacts } from '@mcp-saga/server';
import { SagaTestError } from '../errors.ts';
import { play } from '../play.ts';
import { SagaRun } from '../saga-run.ts';
import { Serving } from '../serving.ts';
import { showError } from '../show.ts';
import { Stage } from '../stage.ts';
import { improvise } from '../improvise.ts';
import type { Script, TestSaga } from '../test-saga.ts';
import { explored, scriptOf, type ExploreReport } from './exploration.ts';

/** A saga that new code could not go on with. */
export interface UpgradeProblem {
  /** The turn whose token it was. */
  readonly turn: number;
  /** What it waited for then. */
  readonly waitedFor: readonly string[];
  /** What the journal has; undefined where it failed for another reason. */
  readonly recorded: StepFacts | undefined;
  /** What the new code asks for. */
  readonly asked: readonly StepFacts[];
  readonly error: unknown;
}

/** What is made of problems. */
export interface UpgradeOptions {
  /** Gives the problems back instead of throwing them. Default false. */
  readonly reportOnly?: boolean;
  /** What must hold after each run that was upgraded on the way. */
  readonly check?: (run: SagaRun) => unknown;
}

/** What an upgrade came to. */
export interface UpgradeReport extends ExploreReport {
  readonly problems: readonly UpgradeProblem[];
}

/**
 * Runs a script with the old code as far as each of its tokens, and goes on with the new code: what happens to the sagas in
 * flight when it is deployed. A script says what both are answered.
 *
 * @throws SagaTestError `violated`: every token that the new code cannot go on with, recorded and asked side by side
 */
export async function upgradeEverywhere(
  script: Script,
  next: Program,
  options: UpgradeOptions = {},
): Promise<UpgradeReport> {
  const old = scriptOf(script);
  const { run: baseline } = await explored(old);
  const problems: UpgradeProblem[] = [];
  for (const [index, point] of baseline.points.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: they may share fakes
    const run = await upgraded(old, next, index + 1);
    if (isProblem(run, baseline)) {
      const { error } = run;
      const { recorded, asked = [] } = error instanceof ReplayMismatch ? error : {};
      const waitedFor = point.asked.map(({ stepId }) => stepId);
      problems.push({ turn: point.turn, waitedFor, recorded, asked, error });
    } else {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await options.check?.(run);
    }
  }
  if (problems.length > 0 && options.reportOnly !== true) throw cannotGoOn(old.saga, next, problems);
  return { cases: baseline.points.length, problems };
}

async function upgraded(old: TestSaga, next: Program, at: number): Promise<SagaRun> {
  const stage = new Stage(old.options, old.rules);
  stage.improvise = improvise;
  stage.mayMismatch = true;
  await old.options.before?.();
  stage.tell({ type: 'started', saga: old.saga.name, input: old.options.input });
  const before = new Serving(old.saga, stage);
  const to = new Serving(next, stage, before);
  return new SagaRun(next, stage, to, await play(old.saga, stage, before, { handover: { at, to } }));
}

function isProblem({ status, error }: SagaRun, baseline: SagaRun): boolean {
  if (error instanceof ReplayMismatch || status === 'refused') return true;
  return status === 'failed' && baseline.status === 'completed';
}

function cannotGoOn(old: Program, next: Program, problems: readonly UpgradeProblem[]): SagaTestError {
  const lines = [
    `Version '${next.version}' of '${next.name}' cannot go on with sagas that version '${old.version}' began:`,
    '',
  ];
  for (const { turn, waitedFor, recorded, asked, error } of problems) {
    lines.push(`    after turn ${turn}, waiting for ${waitedFor.join(', ') || 'nothing'}:`);
    if (recorded === undefined) {
      lines.push(`        ${showError(error)}`);
    } else {
      const now = asked.map(({ kind, path }) => `${kind} '${path}'`).join(', ') || 'nothing more';
      lines.push(`        recorded: ${recorded.kind} '${recorded.path}'`, `        now asks: ${now}`);
    }
  }
  lines.push(
    '',
    'Steps that sagas in flight have in their journals must keep their ids, their order and what they ask. Put a change ' +
      "behind if (yield* patched('…')); or raise the version and let the old code end what it began: previous: [{ saga: old }].",
  );
  return new SagaTestError('violated', lines.join('\n'), { cause: problems[0]?.error });
}
