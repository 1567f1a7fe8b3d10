import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions, type NamesOf } from '../values/known-options.ts';
import { autoAnswerOn } from '../world/answer-question.ts';
import { isFault, wasApplied } from '../run/never-applied.ts';
import type { Rule } from '../script/script-rules.ts';
import type { SagaRun } from '../run/saga-run.ts';
import { indented, messageOfError, oneLine } from '../values/show.ts';
import { World } from '../world/world.ts';
import { TestSaga, type Script } from '../run/test-saga.ts';
import { gist, isSameMessage, shrunk } from './shrink.ts';

/** Options of most explorers. */
export interface ExploreOptions<Run = SagaRun> {
  /** Steps that only read, or may run twice or stay as they are: IDs, or their beginnings with `*`. */
  readonly harmless?: readonly string[];
  /** Throws if a case left its run, or the fakes of the test, as they must not be. */
  readonly check?: (run: Run) => unknown;
}

/** Result of an exploration that found nothing wrong. */
export interface ExploreReport {
  /** Number of cases that ran, without the undisturbed run. */
  readonly cases: number;
}

/** What is wrong with a case. */
export interface Violation {
  readonly what: string;
  /** The line of a test that fails for it. */
  readonly expects: string;
}

/** A script, and the faults in it. */
export interface Case {
  /** Begins a sentence: `When the process dies after 'charge'`. */
  readonly when: string;
  /** The script. The report drops each of its lines that the failure does not need. */
  readonly script: TestSaga;
  readonly fault: readonly Rule[];
  /** The script contains the lines of the fault, so that the report can drop them too. */
  readonly sweeps?: true;
  /** The report begins with the finding of the lowest rank. Default 0. */
  readonly rank?: number;
  /** The case as source code. Default: the script, run. */
  readonly paste?: (test: TestSaga, expects?: string) => string;
}

/** Runs a case, and returns what is wrong with it. `prepare` is given when a case is made smaller. */
export type Find<C extends Case = Case> = (
  each: C,
  prepare?: (world: World) => void,
) => Promise<Finding<C> | undefined>;

/** A run and its world. */
export interface Explored {
  readonly run: SagaRun;
  readonly world: World;
}

/** A case that fails. */
export interface Finding<C extends Case = Case> {
  readonly case: C;
  readonly what: string;
  /** The line of a test that fails for it, unless the run itself throws. */
  readonly expects?: string | undefined;
  /** Answers to questions that the script does not answer. */
  readonly autoAnswered: readonly Rule[];
  readonly story: string | undefined;
  readonly unused?: readonly Rule[];
  readonly cause?: unknown;
}

/** How an explorer judges its cases. */
export interface Judgement {
  readonly test: TestSaga;
  readonly baseline: Explored;
  readonly check: ((run: SagaRun, each: Case) => unknown) | undefined;
  /** Compares the run of a case with the run of its script without the fault. */
  readonly judge: (disturbed: Explored, before: Explored, each: Case) => Violation | undefined;
}

/** The names of the options that most explorers take. */
export const exploreNames: NamesOf<ExploreOptions> = { harmless: true, check: true };

/** Checks the arguments of the explorer `of`, and makes a script of them. Throws `script`. */
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

/** Runs a script, and gives the simplest answer to each question that it does not answer. */
export async function explored(test: TestSaga, prepare?: (world: World) => void): Promise<Explored> {
  const world = new World(test.options, test.rules);
  autoAnswerOn(world);
  prepare?.(world);
  return { run: await test.runOn(world), world };
}

/** Makes the function that runs a case and judges it. */
export function judging({ test, baseline, check, judge }: Judgement): Find {
  return async (each, prepare) => {
    const still = each.sweeps === true ? without(each.script, each.fault) : each.script;
    const before = isSame(still, test) ? baseline : await explored(still);
    const disturbed = disturb(each);
    let seen: World | undefined;
    let ran = false;
    const found = (what: string, rest: Pick<Finding, 'expects' | 'cause'>): Finding => ({
      case: each,
      what,
      autoAnswered: seen?.autoAnswered ?? [],
      story: seen === undefined ? undefined : String(seen.trace),
      unused: disturbed.rules.filter(
        (rule) => seen !== undefined && isFault(rule) && !wasApplied(seen, rule),
      ),
      ...rest,
    });
    try {
      const { run, world } = await explored(disturbed, (made) => {
        seen = made;
        prepare?.(made);
      });
      const violation = judge({ run, world }, before, each);
      if (violation !== undefined) return found(violation.what, { expects: violation.expects });
      ran = true;
      await check?.(run, each);
      return undefined;
    } catch (error) {
      const expects = ran ? 'await check(run); // yours' : undefined;
      return found(messageOfError(error), { expects, cause: error });
    }
  };
}

function disturb({ script, fault, sweeps }: Case): TestSaga {
  return sweeps === true ? script : script.with(...fault);
}

function isSame({ rules }: TestSaga, other: TestSaga): boolean {
  return rules.length === other.rules.length && rules.every((rule, at) => rule === other.rules[at]);
}

/** Runs cases one after the other, as they may share fakes, and throws `violated` for the smallest that fails. */
export async function explore<C extends Case>(
  cases: readonly C[],
  find: Find<C>,
  further: () => readonly C[] = () => [],
): Promise<ExploreReport> {
  const first = await findingsIn(cases, find);
  const more = further();
  return await reported([...first, ...(await findingsIn(more, find))], cases.length + more.length, find);
}

/** Runs cases one after the other, and returns those that fail. */
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

/** Throws `violated` if a case fails: the smallest one, as a script to paste, and its trace. */
export async function reported<C extends Case>(
  findings: readonly Finding<C>[],
  cases: number,
  find: Find<C>,
): Promise<ExploreReport> {
  const [first] = findings.toSorted(
    ({ case: one, story = '' }, { case: other, story: longer = '' }) =>
      (one.rank ?? 0) - (other.rank ?? 0) || story.length - longer.length,
  );
  if (first === undefined) return { cases };
  const smallest = await smallestOf(first, find);
  const { when, paste = pasted } = smallest.case;
  const others = findings.filter((finding) => finding !== first);
  const lines = [
    `${when}: ${smallest.what}`,
    '',
    'The smallest case, to paste into a test:',
    '',
    indented(paste(without(disturb(smallest.case), smallest.unused), smallest.expects)),
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

function toldOnce(findings: readonly Finding[] = []): readonly string[] {
  const [first] = findings;
  if (first === undefined) return [];
  const more = findings.length === 1 ? '' : ` (and ${findings.length - 1} more)`;
  return [`    ${first.case.when}${more}:`, `        ${oneLine(first.what.split('\n', 1)[0] ?? '')}`];
}

/** The finding, with the answers that its script lacks and without the lines that it does not need. */
async function smallestOf<C extends Case>(finding: Finding<C>, find: Find<C>): Promise<Finding<C>> {
  const again = async (script: TestSaga): Promise<Finding<C> | undefined> => {
    const found = await find({ ...finding.case, script }, withoutAutoAnswers);
    return found !== undefined && isSameMessage(found.what, finding.what) ? found : undefined;
  };
  const { autoAnswered } = finding;
  const script = finding.case.script.with(...autoAnswered);
  const found = autoAnswered.length === 0 ? finding : await again(script).catch(() => undefined);
  // A failure that does not repeat is reported as it is.
  if (found === undefined) return finding;
  return (await shrunk({ script, found }, again)).found;
}

/** Leaves questions that a script does not answer without an answer, as a pasted script does. */
export function withoutAutoAnswers(world: World): void {
  world.autoAnswer = undefined;
}

/** `true` if a step was declared harmless. */
export function isHarmless(id: string, { harmless = [] }: Pick<ExploreOptions, 'harmless'>): boolean {
  return harmless.some((each) => (each.endsWith('*') ? id.startsWith(each.slice(0, -1)) : each === id));
}
