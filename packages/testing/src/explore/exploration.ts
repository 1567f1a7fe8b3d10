import type { NamesOf } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions } from '../values/known-options.ts';
import { autoAnswerOn } from '../world/world-answers.ts';
import { isFault, wasApplied } from '../run/never-applied.ts';
import type { Rule } from '../script/script-rules.ts';
import type { SagaRun } from '../run/saga-run.ts';
import { indented, messageOfError, oneLine } from '../values/show.ts';
import type { Trace } from '../report/trace.ts';
import { World } from '../world/world.ts';
import { TestSaga, type Script } from '../run/test-saga.ts';
import { gist, isSameMessage, shrunk } from './shrink.ts';

/** Options of most explorers. */
export interface ExploreOptions<Run = SagaRun> {
  /**
   * Effects that may happen twice, or stay done although the saga failed: IDs of steps and undos, or
   * prefixes with `*`. A step without an effect says so itself, by `reads: true`. Default: none.
   */
  readonly harmless?: readonly string[];
  /** Throws if a case left its run, or the fakes of the test, in a wrong state. */
  readonly check?: (run: Run) => unknown;
  /**
   * Receives each case after its run. The next case starts when the returned promise has ended, so
   * that the fakes of the test still are as this case left them.
   */
  readonly onCase?: (explored: ExploredCase) => unknown;
}

/** Case of an explorer, for a report of all cases. */
export interface ExploredCase {
  /** Begins a sentence: `When the process dies after 'charge'`. */
  readonly when: string;
  /** Script of the case, with its fault. */
  readonly script: Script;
  readonly trace: Trace;
  /** Finding; undefined if the case holds. */
  readonly what: string | undefined;
  /** Line of a test that fails in this case, unless the run itself throws. */
  readonly expects: string | undefined;
}

/** Result of an exploration without findings. */
export interface ExploreReport {
  /** Number of cases, without the undisturbed run. */
  readonly cases: number;
}

/** Fault of a case. */
export interface Violation {
  readonly what: string;
  /** Line of a test that fails in this case. */
  readonly expects: string;
}

/** A script, and the faults in it. */
export interface Case {
  /** Begins a sentence: `When the process dies after 'charge'`. */
  readonly when: string;
  /** The script. The report drops unneeded lines. */
  readonly script: TestSaga;
  readonly fault: readonly Rule[];
  /**
   * The script contains the fault, and the report may drop lines of the fault too. Prepares the
   * world of the run, which adds further faults.
   */
  readonly sweeps?: (world: World) => void;
  /** The report begins with the finding of the lowest rank. Default 0. */
  readonly rank?: number;
  /** The case as source code. Default: the script, run. */
  readonly paste?: (test: TestSaga, expects?: string) => string;
}

/** Fault, and the rest of a sentence about it: `fails`. */
export type Fault = readonly [how: string, rule: Rule];

/** Returns a case for each fault, in the order of their ranks. */
export function casesOfFaults(
  script: TestSaga,
  subject: string,
  faults: readonly Fault[],
): readonly Case[] {
  return faults.map(([how, rule], rank) => ({
    when: `${subject} ${how}`,
    script,
    fault: [rule],
    rank,
  }));
}

/** Runs a case, and returns its finding. `prepare` is set when a case is made smaller. */
export type Find<C extends Case = Case> = (
  each: C,
  prepare?: (world: World) => void,
) => Promise<Finding<C> | undefined>;

/** A run and its world. */
export type Explored = Readonly<{ run: SagaRun; world: World }>;

/** A failing case. */
export interface Finding<C extends Case = Case> {
  readonly case: C;
  readonly what: string;
  /** Line of a test that fails in this case, unless the run itself throws. */
  readonly expects?: string | undefined;
  /** Auto-answers to questions without a rule. */
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
  readonly onCase?: ExploreOptions['onCase'];
  /** Changes a finding, or drops it. */
  readonly revise?: (finding: Finding) => Finding | undefined;
  /** Compares the run of a case with the run of its script without the fault. */
  readonly judge: (disturbed: Explored, before: Explored, each: Case) => Violation | undefined;
}

/** Names of the common options. */
export const exploreNames: NamesOf<ExploreOptions> = { harmless: true, check: true, onCase: true };

/** Checks the arguments of the explorer `of`, and returns the script. Throws `script`. */
export function scriptOf(
  of: string,
  script: Script,
  options: object = {},
  names: object = {},
): TestSaga {
  const { saga, options: ofTest, rules } = Object(script) as Partial<Script>;
  if (saga === undefined || ofTest === undefined || !Array.isArray(rules)) {
    const what = 'points' in Object(script) ? 'got a run; pass its script' : 'got something else';
    throw new SagaTestError('script', `${of}: expected a script, ${of}(testSaga(saga)…): ${what}.`);
  }
  assertKnownOptions(of, options, names);
  return new TestSaga(saga, ofTest, rules);
}

/** Runs a script, and auto-answers each question without a rule. */
export async function explored(
  test: TestSaga,
  prepare?: (world: World) => void,
): Promise<Explored> {
  const world = new World(test.options, test.rules);
  autoAnswerOn(world);
  prepare?.(world);
  return { run: await test.runOn(world), world };
}

/** Makes the function to run and judge a case. */
export function judging({
  test,
  baseline,
  check,
  onCase,
  judge,
  revise = (it) => it,
}: Judgement): Find {
  return async (each, prepare) => {
    const still = each.sweeps === undefined ? each.script : without(each.script, each.fault);
    const before = isSame(still, test) ? baseline : await explored(still);
    const disturbed = disturb(each);
    let seen: World | undefined;
    let ran = false;
    const found = (
      what: string,
      rest: Pick<Finding, 'expects' | 'cause' | 'unused'>,
    ): Finding | undefined =>
      revise({
        case: each,
        what,
        autoAnswered: seen?.autoAnswered ?? [],
        story: seen === undefined ? undefined : String(seen.trace),
        unused: disturbed.rules.filter(
          (rule) => seen !== undefined && isFault(rule) && !wasApplied(seen, rule),
        ),
        ...rest,
      });
    const examine = async (): Promise<Finding | undefined> => {
      try {
        const { run, world } = await explored(disturbed, (made) => {
          seen = made;
          each.sweeps?.(made);
          prepare?.(made);
        });
        const violation = judge({ run, world }, before, each);
        if (violation !== undefined) return found(violation.what, { expects: violation.expects });
        // The pasted script keeps the fault, and throws because the fault never applies.
        if (neverHappened(each, world)) return found(neverHappens, { unused: [] });
        ran = true;
        await check?.(run, each);
        return undefined;
      } catch (error) {
        const expects = ran ? 'await check(run); // yours' : undefined;
        return found(messageOfError(error), { expects, cause: error });
      }
    };
    const finding = await examine();
    // An error of the receiver is its own, and no finding about the saga.
    if (prepare === undefined && each.sweeps === undefined && seen !== undefined)
      await onCase?.({
        when: each.when,
        script: disturbed,
        trace: seen.trace,
        what: finding?.what,
        expects: finding?.expects,
      });
    return finding;
  };
}

/**
 * `true` for a case without any of its faults, whose run shows nothing. A sweep may miss some of
 * its faults, as those that happen move the others.
 */
function neverHappened({ fault }: Case, world: World): boolean {
  return fault.length > 0 && !fault.some((rule) => wasApplied(world, rule));
}

const neverHappens =
  'this never happens in the run of the case, so the case shows nothing: the saga takes another way than in the undisturbed run. ' +
  'Check the saga for state in a variable outside of its body, such as a cache, and reset it in `before` of the test.';

function disturb({ script, fault, sweeps }: Case): TestSaga {
  return sweeps === undefined ? script.with(...fault) : script;
}

function isSame({ rules }: TestSaga, other: TestSaga): boolean {
  return rules.length === other.rules.length && rules.every((rule, at) => rule === other.rules[at]);
}

/**
 * Runs cases in sequence, as cases may share fakes, and throws `violated` for the smallest failing
 * case.
 */
export async function explore<C extends Case>(
  cases: readonly C[],
  find: Find<C>,
  further: () => readonly C[] = () => [],
): Promise<ExploreReport> {
  const first = await findingsIn(cases, find);
  const more = further();
  return await reported(
    [...first, ...(await findingsIn(more, find))],
    cases.length + more.length,
    find,
  );
}

/** Runs cases in sequence, and returns the failing cases. */
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

/** Throws `violated` if a case fails: the smallest case, as a script to paste, and its trace. */
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
    if (alike.length > 0) lines.push('', 'The same problem occurs in:', '', ...alike);
    if (causes.size > 0)
      lines.push('', 'Other problems occur in:', '', ...[...causes.values()].flatMap(toldOnce));
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
  return [
    `    ${first.case.when}${more}:`,
    `        ${oneLine(first.what.split('\n', 1)[0] ?? '')}`,
  ];
}

/** The finding, with the auto-answers and without unneeded lines. */
async function smallestOf<C extends Case>(finding: Finding<C>, find: Find<C>): Promise<Finding<C>> {
  const again = async (script: TestSaga): Promise<Finding<C> | undefined> => {
    const found = await find({ ...finding.case, script }, withoutAutoAnswers);
    return found !== undefined && isSameMessage(found.what, finding.what) ? found : undefined;
  };
  const { autoAnswered } = finding;
  const script = finding.case.script.with(...autoAnswered);
  const found = autoAnswered.length === 0 ? finding : await again(script).catch(() => undefined);
  // A failure without a repetition is reported as found.
  if (found === undefined) return finding;
  return (await shrunk({ script, found }, again)).found;
}

/** Adds auto-answers to a script, and keeps the failure that it expects. */
export function withAnswers(
  { saga, options, rules }: TestSaga,
  answers: readonly Rule[],
): TestSaga {
  return new TestSaga(saga, options, [...answers, ...rules]);
}

/** Disables auto-answers, as a pasted script has none. */
export function withoutAutoAnswers(world: World): void {
  world.autoAnswer = undefined;
}

/** `true` if a step only reads, or was declared harmless. */
export function isHarmless(
  id: string,
  { harmless = [] }: Pick<ExploreOptions, 'harmless'>,
  { reads }: Pick<World, 'reads'>,
): boolean {
  if (reads.has(id)) return true;
  return harmless.some((each) =>
    each.endsWith('*') ? id.startsWith(each.slice(0, -1)) : each === id,
  );
}

/**
 * `true` if a step may run again for another saga, which a repeated first request begins: it is
 * harmless, or sends a person a link, of which the person uses one.
 */
export function mayBeginAgain(
  id: string,
  options: Pick<ExploreOptions, 'harmless'>,
  world: Pick<World, 'reads' | 'deliveries'>,
): boolean {
  return world.deliveries.has(id) || isHarmless(id, options, world);
}

/** Advice for a step that is reported although it does no harm. `what`: what does none. */
export function unlessHarmless(id: string, what: string): string {
  return `If the step only reads, set reads: true. If ${what} does no harm, pass { harmless: ['${id}'] }`;
}
