import type { Rule } from '../script/script-rules.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { carelessly, nameOf } from './crash-everywhere.ts';
import { baselineOf, programmingError } from './baseline.ts';
import {
  explore,
  exploreNames,
  isHarmless,
  judging,
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
 * Lets each step fail, time out, and lose its response after its effect. A saga that fails by that must undo every effect, last
 * first, or name it as residue.
 *
 * In the simplest case that calls it, each undo also loses its response once, and must use the same key again; and fails each
 * time, and must be named. If the saga accepts forks, the process also dies once after the undo, and then nothing fails: the saga
 * must not complete without the effect. `check` does not see runs that leave residue by a failing undo.
 *
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 */
export async function failEverywhere(script: Script, options: ExploreOptions = {}): Promise<ExploreReport> {
  const test = scriptOf('failEverywhere', script, options, exploreNames);
  const baseline = await baselineOf(test);
  // Known when a case has run.
  const undos = new Map<Case, readonly string[]>();
  const left = new Map<Case, readonly string[]>();
  const attempts = new Map<Case, number>();
  const found = judging({
    test,
    baseline,
    check: (run, { fault }) =>
      fault.length === 1 || run.residue.length === 0 ? options.check?.(run) : undefined,
    judge: (failed, before, each) => {
      undos.set(
        each,
        [...failed.world.runs.keys()].filter((id) => id.startsWith('~')),
      );
      left.set(each, leftIn(failed));
      attempts.set(each, attemptsIn(each, failed));
      return (
        forgotten(failed, options) ??
        undoneTwice(failed, options) ??
        keptUndone(failed, options) ??
        programmingError(failed, before)
      );
    },
  });
  const find: Find = async (each, prepare) => {
    const finding = await found(each, prepare);
    return finding === undefined ? undefined : adviseOnUnknown(finding, left.get(each) ?? []);
  };
  const cases = casesOf(test, baseline);
  return await explore(cases, find, () => furtherCasesOf(cases, undos, attempts));
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

/** Cases in which each undo fails once, in the simplest case that calls it. Their number grows with the number of steps. */
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

/** Case in which the process dies after an undo, and the step does not fail again. */
function onceOnly(undo: string, { when, script, fault }: Case, times: number): Case {
  const crash: Rule = { kind: 'crash', id: undo, when: 'after', run: 1 };
  return {
    when: `${when}, but only until the process dies after ${nameOf(undo)}`,
    script,
    fault: [...fault.map((rule) => ('times' in rule ? { ...rule, times } : rule)), crash],
    rank: 5,
  };
}

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

/** Adds advice on `compensateUnknown` to a failed check of an unknown outcome. */
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

/** Residue that was never undone. */
function leftIn({ run, world }: Explored): readonly string[] {
  return run.residue.filter((id) => !world.runs.has(`~${id}`));
}
