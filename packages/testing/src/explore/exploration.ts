import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions, type NamesOf } from '../values/known-options.ts';
import { autoAnswerOn } from '../world/answer-question.ts';
import { isFault, wasApplied } from '../run/never-applied.ts';
import type { Rule } from '../script/rules.ts';
import type { SagaRun } from '../run/saga-run.ts';
import { indented, messageOfError, oneLine } from '../values/show.ts';
import { World } from '../world/world.ts';
import { TestSaga, type Script } from '../run/test-saga.ts';
import { gist, isSameMessage, shrunk } from './shrink.ts';

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

/** What is wrong with a case. */
export interface Violation {
  readonly what: string;
  /** The line of a test that fails for it, about its `run`. */
  readonly expects: string;
}

/** A case: a script, and what goes wrong in it. */
export interface Case {
  /** What goes wrong, as a sentence begins: `When the process dies after 'charge'`. */
  readonly when: string;
  /** The script in which it goes wrong: the lines of it that the failure does not need are left out where it is told. */
  readonly script: TestSaga;
  readonly fault: readonly Rule[];
  /** The lines of the fault stand in the script: each of them may be left out as well. */
  readonly sweeps?: true;
  /** Of two cases that find something, the one of the lower rank is told first. Default 0. */
  readonly rank?: number;
  /** The case as source code. Default: the script, run. */
  readonly paste?: (test: TestSaga, expects?: string) => string;
}

/** Runs a case, and says what is wrong with it. */
export type Find<C extends Case = Case> = (
  each: C,
  prepare?: (world: World) => void,
) => Promise<Finding<C> | undefined>;

/** What a run of a case came to. */
export interface Explored {
  readonly run: SagaRun;
  readonly world: World;
}

/** What is wrong with a case. */
export interface Finding<C extends Case = Case> {
  readonly case: C;
  readonly what: string;
  /** The line of a test that fails for it, where the run itself does not throw. */
  readonly expects?: string | undefined;
  /** Lines that the script lacks: what was answered to questions that it does not foresee. */
  readonly autoAnswered: readonly Rule[];
  readonly story: string | undefined;
  /** Lines of the script that let something go wrong which never came to pass: none to paste. */
  readonly unused?: readonly Rule[];
  readonly cause?: unknown;
}

/** The names of the options that most explorers take. */
export const exploreNames: NamesOf<ExploreOptions> = { harmless: true, check: true };

/**
 * Checks what an explorer is given, and makes a script of it.
 *
 * @param of - name of the explorer
 * @throws SagaTestError `script`
 */
export function scriptOf(of: string, script: Script, options: object = {}, names: object = {}): TestSaga {
  const { saga, options: ofTest, rules } = Object(script) as Partial<Script>;
  if (saga === undefined || ofTest === undefined || !Array.isArray(rules)) {
    const what =
      'points' in Object(script) ? 'a run was given, without its script' : 'something else was given';
    throw new SagaTestError('script', `${of}: expected a script, ${of}(testSaga(saga)…): ${what}.`);
  }
  assertKnownOptions(of, options, names);
  return new TestSaga(saga, ofTest, rules);
}

/** Runs a script, with what it does not foresee answered in the simplest way. */
export async function explored(test: TestSaga, prepare?: (world: World) => void): Promise<Explored> {
  const world = new World(test.options, test.rules);
  autoAnswerOn(world);
  prepare?.(world);
  return { run: await test.runOn(world), world };
}

/** The script of a case, with what goes wrong. */
export function disturbed({ script, fault, sweeps }: Case): TestSaga {
  return sweeps === true ? script : script.with(...fault);
}

/** The script of a case, with nothing that goes wrong. */
export function undisturbed({ script, fault, sweeps }: Case): TestSaga {
  return sweeps === true ? without(script, fault) : script;
}

/** Runs a case, and says what is wrong with it. */
export async function judged<C extends Case>(
  each: C,
  options: ExploreOptions,
  judge: (explored: Explored) => Violation | undefined,
  prepare?: (world: World) => void,
): Promise<Finding<C> | undefined> {
  let seen: World | undefined;
  let ran = false;
  const found = (what: string, { expects, cause }: Pick<Finding, 'expects' | 'cause'>): Finding<C> => ({
    case: each,
    what,
    expects,
    autoAnswered: seen?.autoAnswered ?? [],
    story: seen === undefined ? undefined : String(seen.trace),
    unused: disturbed(each).rules.filter(
      (rule) => seen !== undefined && isFault(rule) && !wasApplied(seen, rule),
    ),
    cause,
  });
  try {
    const { run, world } = await explored(disturbed(each), (made) => {
      seen = made;
      prepare?.(made);
    });
    const violation = judge({ run, world });
    if (violation !== undefined) return found(violation.what, violation);
    ran = true;
    await options.check?.(run);
    return undefined;
  } catch (error) {
    const expects = ran ? 'await check(run); // yours' : undefined;
    return found(messageOfError(error), { expects, cause: error });
  }
}

/** Runs cases one after the other, since they may share fakes, and gives what is wrong. */
export async function findingsIn<C extends Case>(
  cases: readonly C[],
  find: Find<C>,
): Promise<readonly Finding<C>[]> {
  const findings: Finding<C>[] = [];
  for (const each of cases) {
    const finding = await find(each);
    if (finding !== undefined) findings.push(finding);
  }
  return findings;
}

/**
 * Throws where something was found: the smallest case, as a script to paste, with its story.
 *
 * @throws SagaTestError `violated`
 */
export async function assertNothingFound<C extends Case>(
  findings: readonly Finding<C>[],
  cases: number,
  find: Find<C>,
): Promise<void> {
  const [first] = findings.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || sizeOf(one) - sizeOf(other),
  );
  if (first === undefined) return;
  const smallest = await smallestOf(first, find);
  const { paste = pasted } = smallest.case;
  const others = findings.filter((finding) => finding !== first);
  const lines = [
    `${smallest.case.when}: ${smallest.what}`,
    '',
    'The smallest case, to paste into a test:',
    '',
    indented(paste(without(disturbed(smallest.case), smallest.unused), smallest.expects)),
  ];
  if (smallest.story !== undefined) lines.push('', 'What happened:', '', indented(smallest.story));
  if (others.length > 0) {
    const same = others.filter(({ what }) => isSameMessage(what, first.what));
    const alike = same.slice(0, 10).map((finding) => `    ${finding.case.when}`);
    if (same.length > 10) alike.push('    …');
    const causes = new Map<string, Finding[]>();
    for (const other of others) {
      if (same.includes(other)) continue;
      const cause = gist(other.what);
      causes.set(cause, [...(causes.get(cause) ?? []), other]);
    }
    lines.push('', `${others.length + 1} of ${cases} cases fail.`);
    if (alike.length > 0) lines.push('', 'The same is wrong in:', '', ...alike);
    if (causes.size > 0)
      lines.push('', 'Something else is wrong in:', '', ...[...causes.values()].flatMap(toldOnce));
  }
  throw new SagaTestError('violated', lines.join('\n'), { cause: smallest.cause });
}

/** A script as a test: it fails as the case does. */
function pasted(script: TestSaga, expects?: string): string {
  return expects === undefined ? String(script) : `const run = ${String(script)}\n${expects}`;
}

function without(script: TestSaga, unused: readonly Rule[] = []): TestSaga {
  return new TestSaga(
    script.saga,
    script.options,
    script.rules.filter((rule) => !unused.includes(rule)),
  );
}

/** What is wrong in several cases alike, by the first of them. */
function toldOnce(findings: readonly Finding[] = []): readonly string[] {
  const [first] = findings;
  if (first === undefined) return [];
  const more = findings.length === 1 ? '' : ` (and ${findings.length - 1} more)`;
  return [`    ${first.case.when}${more}:`, `        ${oneLine(first.what.split('\n', 1)[0] ?? '')}`];
}

/** What was found, with what the script lacked and without what it does not need. */
async function smallestOf<C extends Case>(finding: Finding<C>, find: Find<C>): Promise<Finding<C>> {
  const again = async (script: TestSaga): Promise<Finding<C> | undefined> => {
    const found = await find({ ...finding.case, script }, withoutAutoAnswers);
    return found !== undefined && isSameMessage(found.what, finding.what) ? found : undefined;
  };
  const { autoAnswered } = finding;
  const script = finding.case.script.with(...autoAnswered);
  const found = autoAnswered.length === 0 ? finding : await again(script).catch(() => undefined);
  // What comes only now and then is told as it came.
  if (found === undefined) return finding;
  return (await shrunk({ script, found }, again)).found;
}

/** A script to be pasted has nobody who answers for it. */
export function withoutAutoAnswers(world: World): void {
  world.autoAnswer = undefined;
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
