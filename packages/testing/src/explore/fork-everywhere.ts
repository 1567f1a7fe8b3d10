import type { ClientStep } from '@mcp-saga/server';
import { SagaTestError } from '../errors.ts';
import { edgesOf } from '../form-edges.ts';
import { formOf, type Content } from '../form-content.ts';
import type { Point } from '../play.ts';
import type { SagaRun } from '../saga-run.ts';
import { isSameValue } from '../same-value.ts';
import { show } from '../show.ts';
import { toSource } from '../source.ts';
import type { Script, TestSaga } from '../test-saga.ts';
import { carelessly } from './crash-everywhere.ts';
import { explored, isHarmless, scriptOf, type ExploreOptions, type ExploreReport } from './exploration.ts';

/** An older token that was used again, and what became of it. */
export interface Fork {
  /** The question it went back to; undefined for a token that asked nothing. */
  readonly id: string | undefined;
  readonly turn: number;
  /** What was answered otherwise; undefined: the same. */
  readonly answer: unknown;
  readonly status: SagaRun['status'];
  /** What it undid that the first run had done. */
  readonly undone: readonly string[];
  /** What was done again, under the same idempotency key. */
  readonly again: readonly string[];
}

/** What forks came to. */
export interface ForkReport extends ExploreReport {
  readonly forks: readonly Fork[];
}

/** What is told of a fork beside its run. */
export type ForkCheck = (fork: SagaRun, first: SagaRun) => unknown;

/**
 * Uses each token of a run once more after its end, with the same answers and with others, as a client can that kept it.
 * Under `forks: 'refuse'` the same request must get the same response with nothing done again, another one must be refused.
 * Without a guard, what is done again must be told apart by its idempotency key. What a saga that accepts forks undoes after
 * its end stands in the report, and `check` can look at the fakes: whether it does harm, only its author knows.
 *
 * @throws SagaTestError `violated`: the first such fork, as a script to paste
 */
export async function forkEverywhere(
  script: Script,
  options: Omit<ExploreOptions, 'check'> & { readonly check?: ForkCheck } = {},
): Promise<ForkReport> {
  const test = scriptOf(script);
  const { run: baseline } = await explored(test);
  const forks: Fork[] = [];
  for (const [index, point] of baseline.points.entries()) {
    for (const answer of [undefined, ...othersFor(point)]) {
      // oxlint-disable-next-line no-await-in-loop -- one fork after the other: each in a world of its own
      forks.push(await forked(test, index, answer, options));
    }
  }
  return { cases: forks.length, forks };
}

async function forked(
  test: TestSaga,
  index: number,
  answer: unknown,
  options: Omit<ExploreOptions, 'check'> & { readonly check?: ForkCheck },
): Promise<Fork> {
  const { run: first, stage } = await explored(test);
  const point = first.points[index] as Point;
  const before = new Map(first.effects.map(({ key, runs }) => [key, runs]));
  const travel = first.back(first.points.length - index);
  const fork = await travel.fork(answer as object | undefined);
  const id = point.asked[0]?.stepId;
  const effects = stage.ledger.effects;
  const again = effects
    .filter(({ key, runs }) => runs > (before.get(key) ?? runs))
    .map((effect) => effect.id);
  const seen = { id, turn: point.turn, answer, status: fork.status, again };
  const undone = fork.compensated.filter((each) => first.status === 'completed' && before.has(`do:${each}`));
  const what =
    test.saga.forks === 'refuse'
      ? guarded(first, fork, answer, stage.ledger.runs - sum(before.values()))
      : effects
          .filter((effect) => !isHarmless(effect.id, options))
          .map(carelessly)
          .find(Boolean);
  const found = what ?? (await checked(fork, first, options.check));
  if (found === undefined) return { ...seen, undone };
  throw new SagaTestError(
    'violated',
    `When the token of turn ${point.turn} is used again${answer === undefined ? '' : ` and '${id}' answered with ${show(answer)}`}: ` +
      `${found}\n\nTo paste into a test:\n\n${indented(source(test, id, point.turn, first, answer))}\n\n` +
      `What happened:\n\n${indented(String(fork.trace))}`,
  );
}

function guarded(first: SagaRun, fork: SagaRun, answer: unknown, runs: number): string | undefined {
  if (runs > 0) return 'steps run again, though the saga refuses forks.';
  if (answer !== undefined) {
    return fork.status === 'refused' ? undefined : `it is ${fork.status}, though the saga refuses forks.`;
  }
  if (fork.status === first.status && isSameValue(fork.result, first.result)) return undefined;
  return `the same request gets another response: it is ${fork.status} with ${show(fork.result)}.`;
}

async function checked(
  fork: SagaRun,
  first: SagaRun,
  check: ForkCheck | undefined,
): Promise<string | undefined> {
  try {
    await check?.(fork, first);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// One of each kind: a refusal, and the first content at an edge that is another one.
function othersFor({ asked, answers }: Point): readonly unknown[] {
  const [step] = asked;
  if (step === undefined) return [];
  const given = answers.find(({ stepId }) => stepId === step.stepId);
  const result: unknown = given !== undefined && 'result' in given ? given.result : undefined;
  return others(step, result);
}

function others({ type, params }: ClientStep, given: unknown): readonly unknown[] {
  switch (type) {
    case 'elicitation': {
      const form = formOf(params);
      const { content, action } = Object(given) as { readonly content?: Content; readonly action?: string };
      const edges = form === undefined ? [] : edgesOf(form, content);
      const other = edges.find((edge) => !isSameValue(edge.content, content))?.content;
      return [...(action === 'decline' ? [] : ['decline']), ...(other === undefined ? [] : [other])];
    }
    case 'sampling':
      return ['Something else'];
    case 'roots':
      return [];
  }
}

function source(
  test: TestSaga,
  id: string | undefined,
  turn: number,
  first: SagaRun,
  answer: unknown,
): string {
  const place = id === undefined ? `back(${first.points.length - turn + 1})` : `at(${toSource(id)})`;
  const given = answer === undefined ? '' : toSource(answer);
  return `const run = ${String(test)}\nawait run.${place}.fork(${given});`;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
