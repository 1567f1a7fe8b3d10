import { isSingleUse } from '../script/test-options.ts';
import { edgesOf } from '../script/form-edges.ts';
import { formOf, type Content } from '../script/form-content.ts';
import type { SagaRun } from '../run/saga-run.ts';
import { isSameValue } from '../values/same-value.ts';
import { messageOfError, show } from '../values/show.ts';
import { toSource } from '../script/script-source.ts';
import type { Point, World } from '../world/world.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { firstCareless } from './crash-everywhere.ts';
import { assertCases, baselineOf, programmingError } from './baseline.ts';
import { explore, explored, scriptOf } from './exploration.ts';
import type {
  Case,
  ExploreOptions,
  ExploreReport,
  Find,
  Finding,
  Violation,
} from './exploration.ts';

/** An older token, used again, and its outcome. */
export interface Fork {
  /** Question of the token; undefined if it asked none. */
  readonly id: string | undefined;
  readonly turn: number;
  /** Other answer; undefined: the same. */
  readonly answer: unknown;
  readonly status: SagaRun['status'];
  /** Undone steps of the first run. */
  readonly undone: readonly string[];
  /** Repeated steps, under the same idempotency key. */
  readonly again: readonly string[];
}

/** Result of `forkEverywhere`. */
export interface ForkReport extends ExploreReport {
  readonly forks: readonly Fork[];
}

/** Throws if a fork did harm. */
export type ForkCheck = (fork: SagaRun, first: SagaRun) => unknown;

/**
 * Uses each token of a run again after its end, with the same answers and with others. With a
 * store, the same request must get the same response and run nothing again, and another request
 * must be refused. Under `reuse: 'ok'`, or with `store: false`, each repeated effect must use its idempotency key.
 *
 * The report lists what forks undid after the saga ended. Only `check` can decide if that does
 * harm.
 * @throws SagaTestError `violated`: the smallest such fork, as a script to paste
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', ({ idempotencyKey }) => api.ship(idempotencyKey));
 *   return 'done';
 * });
 * await forkEverywhere(testSaga(order));
 * ```
 */
export async function forkEverywhere(
  script: Script,
  options: Omit<ExploreOptions, 'check' | 'onCase'> & { readonly check?: ForkCheck } = {},
): Promise<ForkReport> {
  const test = scriptOf('forkEverywhere', script, options, { harmless: true, check: true });
  const { run: baseline } = await baselineOf(test);
  const forks: Fork[] = [];
  const find: Find<ForkCase> = async (each, prepare) => {
    const { fork, finding } = await forked(each, options, prepare);
    if (prepare === undefined) forks.push(fork);
    return finding;
  };
  const cases = baseline.points.flatMap((point, index) => casesOf(test, point, index));
  assertCases('forkEverywhere', cases, withoutToken);
  return { ...(await explore(cases, find)), forks };
}

/** Reason why a run has no token to use again, or to continue with new code. */
export const withoutToken: string =
  'the saga ends in its first request, so no client ever holds a token. Leave it out for this saga, or give ' +
  'the script an input with which the saga asks or waits.';

interface ForkCase extends Case {
  readonly index: number;
  /** Question of the token, if it has one. */
  readonly id: string | undefined;
  readonly answer: unknown;
}

function casesOf(script: TestSaga, point: Point, index: number): readonly ForkCase[] {
  const id = point.asked[0]?.stepId;
  return [undefined, ...othersFor(point)].map((answer, rank) => ({
    when:
      `When the token of turn ${point.turn} is used again` +
      (answer === undefined ? '' : ` and '${id}' answered with ${show(answer)}`),
    script,
    fault: [],
    rank,
    index,
    id,
    answer,
  }));
}

async function forked(
  each: ForkCase,
  options: Omit<ExploreOptions, 'check' | 'onCase'> & { readonly check?: ForkCheck },
  prepare?: (world: World) => void,
): Promise<{ readonly fork: Fork; readonly finding: Finding<ForkCase> | undefined }> {
  const { script: test, index, id, answer } = each;
  const { run: first, world } = await explored(test, prepare);
  const point = first.points[index] as Point;
  if (point.asked[0]?.stepId !== id) throw new TypeError('A smaller script behaves differently.');
  const before = new Map(world.ledger.effects.map(({ key, runs }) => [key, runs]));
  const ran = world.ledger.runs;
  const fork = await first.back(first.points.length - index).fork(answer as object | undefined);
  const again = world.ledger.effects.flatMap(({ id: step, key, runs }) =>
    runs > (before.get(key) ?? runs) ? [step] : [],
  );
  const undone = fork.compensated.filter(
    (step) => first.status === 'completed' && before.has(`do:${step}`),
  );
  const seen: Fork = { id, turn: point.turn, answer, status: fork.status, undone, again };
  const violation = isSingleUse(test)
    ? guarded(first, fork, answer, world.ledger.runs - ran)
    : (firstCareless(world, options) ?? mistakeIn(fork));
  const found = violation ?? (await checked(() => options.check?.(fork, first)));
  if (found === undefined) return { fork: seen, finding: undefined };
  const place = id === undefined ? `back(${first.points.length - index})` : `at(${toSource(id)})`;
  const given = answer === undefined ? '' : toSource(answer);
  const paste = (script: TestSaga): string =>
    `const run = ${String(script)}\nconst fork = await run.${place}.fork(${given});\n${found.expects}`;
  const { autoAnswered } = world;
  const finding = {
    case: { ...each, paste },
    what: found.what,
    autoAnswered,
    story: String(fork.trace),
  };
  return { fork: seen, finding };
}

function guarded(
  first: SagaRun,
  fork: SagaRun,
  answer: unknown,
  runs: number,
): Violation | undefined {
  if (runs > 0) {
    const done = first.effects.reduce((all, effect) => all + effect.runs, -runs);
    const expects = `expect(fork.effects.reduce((all, { runs }) => all + runs, 0)).toBe(${done});`;
    return { what: 'steps run again, although each token counts once.', expects };
  }
  if (answer !== undefined) {
    const what = `it is ${fork.status}, although each token counts once.`;
    return fork.status === 'refused'
      ? undefined
      : { what, expects: "expect(fork.status).toBe('refused');" };
  }
  const compared = first.status === 'completed' ? 'result' : 'status';
  if (fork.status === first.status && isSameValue(fork[compared], first[compared]))
    return undefined;
  const given = fork.status === 'completed' ? ` with ${show(fork.result)}` : '';
  const what = `the same request gets another response: it is ${fork.status}${given}.`;
  return { what, expects: `expect(fork.${compared}).toEqual(run.${compared});` };
}

function mistakeIn(fork: SagaRun): Violation | undefined {
  const mistake = programmingError(fork);
  return mistake && { ...mistake, expects: mistake.expects.replace('run.error', 'fork.error') };
}

async function checked(check: () => unknown): Promise<Violation | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return { what: messageOfError(error), expects: 'await check(fork, run); // yours' };
  }
}

// A refusal, and the first different content at an edge.
function othersFor({ asked, answers }: Point): readonly unknown[] {
  const [step] = asked;
  if (step === undefined) return [];
  const given = answers.find(({ stepId }) => stepId === step.stepId);
  switch (step.type) {
    case 'elicitation': {
      const form = formOf(step.params);
      const result: unknown = given !== undefined && 'result' in given ? given.result : undefined;
      const { content, action } = Object(result) as {
        readonly content?: Content;
        readonly action?: string;
      };
      const edges = form === undefined ? [] : edgesOf(form, content);
      const other = edges.find((edge) => !isSameValue(edge.content, content))?.content;
      return [
        ...(action === 'decline' ? [] : ['decline']),
        ...(other === undefined ? [] : [other]),
      ];
    }
    case 'sampling':
      return ['Something else'];
    case 'roots':
      return [];
  }
}
