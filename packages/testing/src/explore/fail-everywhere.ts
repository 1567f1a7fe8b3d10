import type { Rule } from '../script/rules.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { carelessly, nameOf } from './crash-everywhere.ts';
import { baselineOf, programmingError } from './baseline.ts';
import {
  assertNothingFound,
  explored,
  exploreNames,
  findingsIn,
  isHarmless,
  judged,
  scriptOf,
  type Case,
  type Explored,
  type ExploreOptions,
  type ExploreReport,
  type Find,
  type Finding,
  type Violation,
} from './exploration.ts';
import { forgotten, keptUndone } from './nothing-forgotten.ts';

/**
 * Lets each step fail, time out, and lose its response after it had its effect. Where the saga fails then, every effect
 * must be undone or be named as residue, last first. On top of that each undo, in the simplest such case that calls it,
 * loses its response once, and is done again: by the same key; and fails each time: it must be named, and everything else
 * be undone. Where forks are accepted, so that no guard keeps anything, the process dies after it once, and nothing fails any
 * more: the saga must not complete with what is undone. `check` is not told of a run that leaves residue by all that: what is
 * to hold then is another matter.
 *
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 */
export async function failEverywhere(script: Script, options: ExploreOptions = {}): Promise<ExploreReport> {
  const test = scriptOf('failEverywhere', script, options, exploreNames);
  const baseline = await baselineOf(test);
  // What each case calls to undo, and what it leaves: found out while it is judged.
  const undos = new Map<Case, readonly string[]>();
  const left = new Map<Case, readonly string[]>();
  const attempts = new Map<Case, number>();
  const find: Find = async (each, prepare) => {
    const before = each.script === test ? baseline : await explored(each.script);
    const finding = await judged(
      each,
      each.fault.length === 1 ? options : onlyUndone(options),
      (failed) => {
        undos.set(each, undosIn(failed));
        left.set(each, leftIn(failed));
        attempts.set(each, attemptsIn(each, failed));
        return (
          forgotten(failed, options) ??
          undoneTwice(failed, options) ??
          keptUndone(failed, options) ??
          programmingError(failed, before)
        );
      },
      prepare,
    );
    return finding === undefined ? undefined : adviseOnUnknown(finding, left.get(each) ?? []);
  };
  const cases = casesOf(test, baseline);
  const findings = await findingsIn(cases, find);
  const further = furtherCasesOf(cases, undos, attempts);
  const more = await findingsIn(further, find);
  await assertNothingFound([...findings, ...more], cases.length + further.length, find);
  return { cases: cases.length + further.length };
}

function casesOf(test: TestSaga, { run }: Explored): readonly Case[] {
  const steps = run.trace.flatMap(({ ...entry }) =>
    (entry.type === 'ran' || entry.type === 'polled') && !entry.id.startsWith('~') ? [entry.id] : [],
  );
  return [...new Set(steps)].flatMap((id) => {
    const faults: readonly (readonly [string, Rule])[] = [
      ['fails', { kind: 'fail', id, error: new Error('refused'), times: Infinity }],
      ['times out', { kind: 'timeout', id, times: Infinity }],
      ['has its effect, and its response is lost', { kind: 'lose', id, times: Infinity }],
    ];
    return faults.map(([how, rule], rank) => ({
      when: `When '${id}' ${how}`,
      script: test,
      fault: [rule],
      rank,
    }));
  });
}

/** Each undo fails in one case only, the simplest that calls it: a saga of many steps has as many, and not their square. */
function furtherCasesOf(
  cases: readonly Case[],
  undos: ReadonlyMap<Case, readonly string[]>,
  attempts: ReadonlyMap<Case, number>,
): readonly Case[] {
  const first = new Map<string, Case>();
  for (const each of cases.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0))) {
    for (const id of undos.get(each) ?? []) if (!first.has(id)) first.set(id, each);
  }
  return Array.from(first).flatMap(([id, base]) => {
    const { when, script, fault } = base;
    const further = faultsOfUndo(id).map(([how, rule], index) => ({
      when: `${when}, and ${nameOf(id)} ${how}`,
      script,
      fault: [...fault, rule],
      rank: 3 + index,
    }));
    return script.saga.forks === 'refuse'
      ? further
      : [...further, onceOnly(id, base, attempts.get(base) ?? 1)];
  });
}

/** The process dies after an undo, and what failed before does not fail when the request is sent again. */
function onceOnly(undo: string, { when, script, fault }: Case, times: number): Case {
  const crash: Rule = { kind: 'crash', id: undo, when: 'after', run: 1 };
  return {
    when: `${when}, but only until the process dies after ${nameOf(undo)}`,
    script,
    fault: [...fault.map((rule) => ('times' in rule ? { ...rule, times } : rule)), crash],
    rank: 5,
  };
}

/** How often the code of the step that a case lets fail was to be run. */
function attemptsIn({ fault: [rule] }: Case, { world }: Explored): number {
  return rule !== undefined && 'id' in rule ? (world.runs.get(rule.id) ?? 1) : 1;
}

function faultsOfUndo(id: string): readonly (readonly [string, Rule])[] {
  return [
    ['loses its response once', { kind: 'lose', id, times: 1 }],
    ['fails each time', { kind: 'fail', id, error: new Error('not undone'), times: Infinity }],
  ];
}

function undoneTwice({ world }: Explored, options: ExploreOptions): Violation | undefined {
  const undone = world.ledger.effects.filter(({ id }) => id.startsWith('~') && !isHarmless(id, options));
  return undone.map(carelessly).find(Boolean);
}

function undosIn({ world }: Explored): readonly string[] {
  return [...world.runs.keys()].filter((id) => id.startsWith('~'));
}

/** What is missing where a check does not hold since nobody knew whether a step had happened, and so nobody undid it. */
function adviseOnUnknown(finding: Finding, left: readonly string[]): Finding {
  const [rule] = finding.case.fault;
  if (rule === undefined || (rule.kind !== 'lose' && rule.kind !== 'timeout')) return finding;
  const { id } = rule;
  if (!left.includes(id)) return finding;
  const advice =
    `Nobody knows whether '${id}' happened, so that its compensate was not called, and it is left as residue. Give it ` +
    'compensateUnknown: ({ stepKey, idempotencyKey }) => …, which undoes it by the key it was done with, if it was.';
  return { ...finding, what: `${finding.what}\n\n${advice}` };
}

/** What was left as residue without a try to undo it. */
function leftIn({ run, world }: Explored): readonly string[] {
  return run.residue.filter((id) => !world.runs.has(`~${id}`));
}

function onlyUndone({ check, ...options }: ExploreOptions): ExploreOptions {
  if (check === undefined) return options;
  return { ...options, check: (run) => (run.residue.length === 0 ? check(run) : undefined) };
}
