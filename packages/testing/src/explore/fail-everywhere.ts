import { isSingleUse } from '../script/test-options.ts';
import type { Rule } from '../script/script-rules.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { firstCareless, nameOf } from './crash-everywhere.ts';
import { assertCases, baselineOf, programmingError } from './baseline.ts';
import { casesOfFaults, explore, exploreNames, judging, scriptOf } from './exploration.ts';
import type {
  Case,
  Explored,
  ExploreOptions,
  ExploreReport,
  Fault,
  Finding,
} from './exploration.ts';
import { forgotten, keptUndone } from './nothing-forgotten.ts';

/**
 * Makes each step fail, time out, and lose its response after its effect. A saga that then fails
 * must undo every effect in reverse order, or name it as uncompensated.
 *
 * In the simplest case that calls it, each undo also loses its response once, and must then use the
 * same key again. It also fails each time, and must then be named. If its tokens may be used again, the
 * process also dies once after the undo, and then nothing fails: the saga must not complete without
 * the effect. `check` does not receive runs whose undo fails.
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', ({ idempotencyKey }) => api.ship(idempotencyKey));
 *   return 'done';
 * });
 * await failEverywhere(testSaga(order));
 * ```
 */
export async function failEverywhere(
  script: Script,
  options: ExploreOptions = {},
): Promise<ExploreReport> {
  const test = scriptOf('failEverywhere', script, options, exploreNames);
  const baseline = await baselineOf(test);
  // Known when a case has run.
  const ran = new Map<Case, Explored>();
  const find = judging({
    test,
    baseline,
    check: (run, { fault }) =>
      fault.length === 1 || run.uncompensated.length === 0 ? options.check?.(run) : undefined,
    onCase: options.onCase,
    judge: (failed, before, each) => {
      ran.set(each, failed);
      return (
        forgotten(failed, options) ??
        firstCareless(
          failed.world,
          options,
          failed.world.ledger.effects.filter(({ id }) => id.startsWith('~')),
        ) ??
        keptUndone(failed, options) ??
        programmingError(failed.run, before.run)
      );
    },
    revise: (finding) => adviseOnUnknown(finding, ran.get(finding.case)),
  });
  const cases = casesOf(test, baseline);
  assertCases(
    'failEverywhere',
    cases,
    'no step of the saga succeeds in the undisturbed run, so none can fail. Leave it out for a saga without steps, or give the ' +
      'script the input, the answers, and the stand-ins with which a step succeeds.',
  );
  return await explore(cases, find, () => furtherCasesOf(cases, ran));
}

function casesOf(test: TestSaga, { run }: Explored): readonly Case[] {
  const steps = run.trace.flatMap(({ ...entry }) =>
    (entry.type === 'ran' || entry.type === 'polled') && !entry.id.startsWith('~')
      ? [entry.id]
      : [],
  );
  return [...new Set(steps)].flatMap((id) =>
    casesOfFaults(test, `When '${id}'`, [
      ['fails', { kind: 'fail', id, error: new Error('refused'), times: Infinity }],
      ['times out', { kind: 'timeout', id, times: Infinity }],
      ['has its effect, and its response is lost', { kind: 'lose', id, times: Infinity }],
    ]),
  );
}

/**
 * Cases with one failing undo, each in the simplest case that calls the undo. The number grows with
 * the number of steps.
 */
function furtherCasesOf(cases: readonly Case[], ran: ReadonlyMap<Case, Explored>): readonly Case[] {
  const first = new Map<string, Case>();
  for (const each of cases.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0))) {
    for (const id of ran.get(each)?.world.runs.keys() ?? [])
      if (id.startsWith('~') && !first.has(id)) first.set(id, each);
  }
  return Array.from(first).flatMap(([id, base]) => {
    const { when, script, fault } = base;
    const further = faultsOfUndo(id).map(([how, rule], index) => ({
      when: `${when}, and ${nameOf(id)} ${how}`,
      script,
      fault: [...fault, rule],
      rank: 3 + index,
    }));
    return isSingleUse(script) ? further : [...further, onceOnly(id, base, ran.get(base))];
  });
}

/** Case: the process dies after an undo, and the step does not fail again. */
function onceOnly(undo: string, { when, script, fault }: Case, ran: Explored | undefined): Case {
  const [failing] = fault;
  const times =
    (failing !== undefined && 'id' in failing ? ran?.world.runs.get(failing.id) : undefined) ?? 1;
  const crash: Rule = { kind: 'crash', id: undo, when: 'after', run: 1 };
  return {
    when: `${when}, but only until the process dies after ${nameOf(undo)}`,
    script,
    fault: [...fault.map((rule) => ('times' in rule ? { ...rule, times } : rule)), crash],
    rank: 5,
  };
}

function faultsOfUndo(id: string): readonly Fault[] {
  return [
    ['loses its response once', { kind: 'lose', id, times: 1 }],
    ['fails each time', { kind: 'fail', id, error: new Error('not undone'), times: Infinity }],
  ];
}

/** Adds advice on `unknown: 'compensate'` to a failed check of an unknown outcome. */
function adviseOnUnknown(finding: Finding, ran: Explored | undefined): Finding {
  const [rule] = finding.case.fault;
  if (rule === undefined || (rule.kind !== 'lose' && rule.kind !== 'timeout')) return finding;
  const { id } = rule;
  // Its undo never ran.
  if (ran?.run.uncompensated.includes(id) !== true || ran.world.runs.has(`~${id}`)) return finding;
  const advice =
    `The outcome of '${id}' is unknown: the saga did not call its \`compensate\`, and left '${id}' uncompensated. Add ` +
    "`unknown: 'compensate'` to the step, and let its `compensate` undo the effect by stepKey, if there is one.";
  return { ...finding, what: `${finding.what}\n\n${advice}` };
}
