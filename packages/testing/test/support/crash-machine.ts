import { crashEverywhere, failEverywhere, SagaTestError, type SagaRun } from '@mcp-saga/testing';
import { explored, type Explored } from '../../src/explore/exploration.ts';
import type { Rule } from '../../src/script/script-rules.ts';
import {
  mayBeLeft,
  mustBeKnown,
  mustBeUndone,
  mustRunOnce,
  pathOf,
  type Act,
  type BankOfMachines,
} from './bank-of-machines.ts';
import { drawMachine, type RandomMachine } from './random-machine.ts';

/** What the runs of machines came to, so that a test can see that they went somewhere. */
interface CrashFigures {
  /** Machines whose runs were disturbed. */
  machines: number;
  /** Disturbed runs. */
  runs: number;
  /** Deaths of processes, and lost responses. */
  deaths: number;
  /** Effects that happened, and calls of undos that ended well. */
  acts: number;
  undone: number;
  /** Effects that a failed saga did not undo, and named. */
  left: number;
  /** Machines of which a crash changes the numbers of later runs of a step. */
  renumbered: number;
  /** Undisturbed runs, by their ends. */
  readonly ends: Record<string, number>;
}

/** Figures without runs. */
export function noFigures(): CrashFigures {
  return { machines: 0, runs: 0, deaths: 0, acts: 0, undone: 0, left: 0, renumbered: 0, ends: {} };
}

/**
 * Draws a machine, and disturbs it: its process dies at each place, each response is lost, and its
 * steps fail. `false` for a machine that does too much, or nothing that can be undone or runs once.
 *
 * @throws for a run in which an effect is lost, denied, or undone in vain
 */
export async function crashMachine(
  numbers: readonly number[],
  figures: CrashFigures,
): Promise<boolean> {
  const drawn = await drawMachine(numbers);
  if (drawn === undefined) return false;
  const { script, bank, run, world, isRepeatable, tape } = drawn;
  const places = world.deaths.length + world.responses.length;
  const isVital = ({ source }: Act): boolean => mustBeKnown(source) || mustRunOnce(source);
  if (places > 25 || !bank.acts.some(isVital)) return false;
  assertTrue(undisturbedProblems(run, bank), run);
  const before = actsOf(bank);
  figures.machines += 1;
  const end = endOf(run);
  figures.ends[end] = (figures.ends[end] ?? 0) + 1;
  const check = (after: SagaRun): void => {
    note(figures, after, bank);
    assertTrue(problemsOf(after, bank), after);
  };
  const same = (after: SagaRun): void => {
    check(after);
    assertTrue(actedOtherwise(before, actsOf(bank)), after);
    assertTrue(after.status === run.status ? [] : [`it ${after.status}`], after);
  };
  const { harmless } = bank;
  if (isRepeatable) {
    try {
      await crashEverywhere(script, { firstRequest: 'accept', harmless, check: same });
    } catch (error) {
      if (!(error instanceof SagaTestError && error.code === 'violated')) throw error;
      // A state that was left may have run its step in the request that died, so that the next run of
      // the step has another number than undisturbed: the explorer, which compares the IDs, objects.
      figures.renumbered += 1;
      for (const rule of faultsOf(world)) same((await explored(script.with(rule))).run);
    }
    await unlessNoCases(
      crashEverywhere(script, {
        firstRequest: 'accept',
        afterCrash: 'fail',
        harmless,
        check,
      }),
    );
    if (tape.once(8) && places <= 15)
      await unlessNoCases(failEverywhere(script, { harmless, check }));
  } else {
    // An effect that runs once ends in doubt after a crash, so that the saga may end otherwise.
    for (const rule of faultsOf(world)) check((await explored(script.with(rule))).run);
  }
  for (let count = 0; count < 2; count += 1) {
    const rules = drawFaults(drawn);
    check((await explored(script.with(...rules))).run);
  }
  return true;
}

/** Each death and each lost response of a run. */
function faultsOf({ deaths, responses }: Explored['world']): readonly Rule[] {
  return [...deaths, ...responses.map((turn): Rule => ({ kind: 'loseResponse', turn }))];
}

/** Some faults that happen in one run. */
function drawFaults({ world, tape }: RandomMachine): readonly Rule[] {
  const faults = faultsOf(world);
  const steps = [...world.runs.keys()];
  const rules: Rule[] = [];
  for (let count = 1 + tape.pick(4); count > 0; count -= 1) {
    const id = steps.length === 0 ? '' : tape.of(steps);
    const times = tape.of([1, 2, Infinity]);
    rules.push(
      tape.of<Rule>([
        tape.of(faults),
        { kind: 'crash', id, when: tape.of(['before', 'after'] as const), run: 1 + tape.pick(3) },
        { kind: 'fail', id, error: new Error('down'), times, from: 1 + tape.pick(2) },
        { kind: 'timeout', id, times },
        { kind: 'lose', id, times },
        { kind: 'crash', id: `~${id}`, when: tape.of(['before', 'after'] as const), run: 1 },
        { kind: 'lose', id: `~${id}`, times },
      ]),
    );
  }
  return rules;
}

async function unlessNoCases(exploring: Promise<unknown>): Promise<void> {
  try {
    await exploring;
  } catch (error) {
    if (!(error instanceof SagaTestError && error.code === 'no_cases')) throw error;
  }
}

function note(
  figures: CrashFigures,
  { trace, uncompensated }: SagaRun,
  bank: BankOfMachines,
): void {
  figures.runs += 1;
  figures.deaths += trace.filter(({ type }) => type === 'crashed' || type === 'lost').length;
  figures.acts += bank.acts.length;
  figures.undone += bank.undone.length;
  figures.left += uncompensated.length;
}

/** The end of a run, by the code of its error. */
function endOf({ status, error }: SagaRun): string {
  if (status !== 'failed') return status;
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' && code.startsWith('saga_') ? code : 'error';
}

type Acted = ReadonlyMap<string, number>;

/** What was done, and under how many keys. */
function actsOf({ acts }: BankOfMachines): Acted {
  const keys = new Map<string, Set<string>>();
  for (const { key, label } of acts) {
    const known = keys.get(label) ?? new Set();
    keys.set(label, known.add(pathOf(key)));
  }
  return new Map(Array.from(keys, ([label, { size }]) => [label, size]));
}

/** What happened under more or fewer keys than before. A promise may die when nobody awaits it. */
function actedOtherwise(before: Acted, after: Acted): readonly string[] {
  const labels = [...new Set([...before.keys(), ...after.keys()])];
  return labels.flatMap((label) => {
    const [was = 0, is = 0] = [before.get(label), after.get(label)];
    const mayBeLess = mayBeLeft(label.split(' ', 1)[0] ?? '');
    return is === was || (mayBeLess && is < was) ? [] : [`${label}: ${is} keys, not ${was}`];
  });
}

function assertTrue(problems: readonly string[], { trace }: SagaRun): void {
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n\n${String(trace)}`);
}

/** What does not hold in a run without a fault. */
function undisturbedProblems(run: SagaRun, bank: BankOfMachines): readonly string[] {
  const kept = bank.acts.filter(
    ({ source, key }) =>
      run.status === 'failed' && mustBeUndone(source) && !run.compensated.includes(pathOf(key)),
  );
  return [...problemsOf(run, bank), ...kept.map(({ key }) => `${key} was not undone`)];
}

/** What does not hold in a run, whatever disturbed it. */
function problemsOf(run: SagaRun, bank: BankOfMachines): readonly string[] {
  const problems: string[] = [];
  const holds = (is: boolean, problem: string): void => void (is || problems.push(problem));
  const { status, compensated, uncompensated } = run;
  const named = [...compensated, ...uncompensated];
  holds(status !== 'refused', `it was refused: ${String(run.error)}`);
  holds(new Set(named).size === named.length, `it names a step twice: ${named.join(', ')}`);
  const keys = new Map<string, string>();
  for (const act of bank.acts) {
    const { key, source } = act;
    const path = pathOf(key);
    if (!mustBeKnown(source) && !mustRunOnce(source)) continue;
    const known = keys.get(path) ?? key;
    keys.set(path, known);
    holds(known === key, `'${path}' has two keys`);
    const times = bank.acts.filter((other) => other.key === key).length;
    holds(!mustRunOnce(source) || times === 1, `'${path}' ran ${times} times`);
    if (status !== 'failed' || !mustBeKnown(source)) continue;
    holds(named.includes(path) || isCovered(act, run, bank), `'${path}' is denied`);
    const isUndone = bank.undone.some(({ stepKey }) => stepKey === key);
    holds(!compensated.includes(path) || isUndone, `'${path}' was not undone, and is said to be`);
  }
  const undos = new Map<string, string>();
  for (const { stepKey, key } of bank.undone) {
    const path = pathOf(stepKey);
    holds(status === 'failed', `'${path}' was undone, and the saga ${status}`);
    holds(named.includes(path), `'${path}' was undone, and nothing says so`);
    holds((undos.get(stepKey) ?? key) === key, `the undo of '${path}' has two keys`);
    undos.set(stepKey, key);
  }
  const { standingKeys } = bank.provider;
  const standing = standingKeys.find((key) => compensated.includes(pathOf(key)));
  holds(standing === undefined, `'${standing}' stands, and is said to be undone`);
  return problems;
}

/** `true` if the saga names the turn in which an effect ran. */
function isCovered(
  { request }: Act,
  { uncompensated }: SagaRun,
  { requests }: BankOfMachines,
): boolean {
  const turn = requests[request - 1] ?? 0;
  const next = requests.slice(request).find((later) => later > turn) ?? Number.POSITIVE_INFINITY;
  return uncompensated.some((id) => {
    const [, named] = /^turn (\d+)$/.exec(id) ?? [];
    return named !== undefined && Number(named) >= turn && Number(named) < next;
  });
}
