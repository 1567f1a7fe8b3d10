import type { ClientStep } from '@mcp-saga/server';
import { testSaga, type TestSaga } from '@mcp-saga/testing';
import { failureReason, World } from '@mcp-saga/testing/internal';
import { machineSaga } from '@mcp-saga/xstate';
import { drawChart, makeMachine, type Chart } from '../../../xstate/test/support/chart.ts';
import { Tape } from '../../../xstate/test/support/tape.ts';
import { WalkTooLong } from '../../../xstate/test/support/walk-world.ts';
import { explored } from '../../src/explore/exploration.ts';
import { wasApplied, isFault } from '../../src/run/never-applied.ts';
import type { SagaRun } from '../../src/run/saga-run.ts';
import type { Rule } from '../../src/script/script-rules.ts';
import { answerOf, type AnsweringRule } from '../../src/world/world-answers.ts';
import { allLeaves, BankOfMachines, repeatableLeaves } from './bank-of-machines.ts';

/** A random machine with a script of all its answers, and the world of its effects. */
export interface RandomMachine {
  readonly script: TestSaga;
  readonly bank: BankOfMachines;
  readonly run: SagaRun;
  readonly world: World;
  /** `true` if no effect of the machine runs once. */
  readonly isRepeatable: boolean;
  readonly tape: Tape;
}

/** Most turns with questions, after which the saga is cancelled. */
const maxTurns = 6;

class Enough extends Error {}

/**
 * Draws a machine, and answers to all that it asks, until it ends or is cancelled. Undefined for a
 * machine that does too much.
 */
export async function drawMachine(numbers: readonly number[]): Promise<RandomMachine | undefined> {
  const half = numbers.length / 2;
  const tape = new Tape(numbers.slice(half));
  const isRepeatable = !tape.once(4);
  const leaves = isRepeatable ? repeatableLeaves : allLeaves;
  const chart = drawChart(new Tape(numbers.slice(0, half)), 0, 'm', { leaves, isBounded: true });
  const bank = new BankOfMachines();
  const machine = makeMachine(chart, bank, undefined, undefined, bank.actors);
  const saga = machineSaga(
    {
      name: 'walk',
      version: '1',
      steps: bank.promiseOptions(machinesOf(chart)),
      commitEach: tape.once(4),
    } as never,
    machine as never,
  );
  const empty = testSaga(saga, {
    providers: [bank.provider],
    before: () => bank.reset(),
    restart: (turn) => bank.begin(turn),
    ...(tape.once(4) ? { queue: true } : {}),
  }) as TestSaga;
  try {
    let script = empty.with(...(await planAnswers(empty, tape, true)));
    let { run, world } = await explored(script);
    // A machine that leaves its state withdraws a question before its late answer, and the kit
    // refuses a line that is never needed.
    if (script.rules.some((rule) => isFault(rule) && !wasApplied(world, rule))) {
      script = empty.with(...(await planAnswers(empty, tape, false)));
      ({ run, world } = await explored(script));
    }
    bank.longest = Number.POSITIVE_INFINITY;
    return {
      script: run.status === 'failed' ? script.expectFailure(failureReason(run.error)) : script,
      bank,
      run,
      world,
      isRepeatable,
      tape,
    };
  } catch (error) {
    if (error instanceof WalkTooLong) return undefined;
    throw error;
  }
}

/** Runs the saga once, and draws the answers. */
async function planAnswers(test: TestSaga, tape: Tape, delays: boolean): Promise<readonly Rule[]> {
  const rules: Rule[] = [];
  const world = new World(test.options, test.rules);
  const seen = new Set<string>();
  const delay = (step: ClientStep): void => {
    const { stepId: id } = step;
    if (seen.has(id)) return;
    seen.add(id);
    if (!tape.once(4)) return;
    const rule: Rule = { kind: 'late', id, ms: 1_000 + 10_000 * tape.pick(6) };
    world.rules.add(rule);
    rules.push(rule);
  };
  let turns = 0;
  const most = 1 + tape.pick(maxTurns);
  world.returnAfter = ({ steps }) => {
    turns += 1;
    const [first] = steps;
    if (turns > most && first !== undefined) {
      rules.push({ kind: 'end', id: first.stepId, reason: undefined });
      throw new Enough();
    }
    if (delays) for (const step of steps) delay(step);
    return undefined;
  };
  world.autoAnswer = (step) => {
    const rule = drawAnswer(tape, step);
    rules.push(rule);
    return answerOf(step, rule, 'answer' in rule ? rule.answer : undefined);
  };
  try {
    await test.runOn(world);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return rules;
}

function drawAnswer(tape: Tape, { type, stepId: id }: ClientStep): AnsweringRule {
  if (tape.once(10)) return { kind: 'clientError', id, message: 'no' };
  if (type === 'roots') return { kind: 'roots', id, roots: [{ uri: 'file:///x' }] };
  if (type === 'sampling') {
    const content = { type: 'text', text: '' } as const;
    const model = tape.once(4) ? 'bad' : 'model';
    return { kind: 'sample', id, answer: { role: 'assistant', model, content } };
  }
  if (tape.once(4)) return { kind: 'refuse', id, action: tape.of(['decline', 'cancel'] as const) };
  return { kind: 'answer', id, answer: { answer: 7 } };
}

function machinesOf(chart: Chart, prefix: string = ''): readonly string[] {
  const below = Object.entries(chart.children).flatMap(([src, child]) =>
    machinesOf(child, `${prefix}${src}/`),
  );
  return [prefix, ...below];
}
