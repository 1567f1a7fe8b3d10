import {
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  SagaTestError,
  TestSaga,
} from '@mcp-saga/testing';
import type { Rule, TraceEntry } from '@mcp-saga/testing';
import { decode, encode } from '@mcp-saga/server/internal';
import { autoAnswerOn, World } from '@mcp-saga/testing/internal';
import type { Reply } from '../model/messages.ts';
import type { CaseView, Cell } from '../model/view.ts';
import { machines, type Playground } from './playground.ts';
import { testOfCase } from './export-test.ts';
import { toEntryView, toText } from './to-view.ts';

/** Explores a script, and reports each case. `load` evaluates the code anew, for each explorer. */
export async function explore(
  load: () => Promise<Playground>,
  say: (reply: Reply) => void,
): Promise<void> {
  for (const explorer of [refuseEverywhere, crashEverywhere, failEverywhere]) {
    const { script, check, harmless } = await load();
    let cases = 0;
    try {
      await explorer(script, {
        harmless,
        ...(check === undefined ? {} : { check }),
        onCase: async ({ when, what, expects, trace, script: disturbed }) => {
          cases += 1;
          const rules = disturbed.rules.slice(script.rules.length);
          const named = nameFault(rules, when);
          const at = findFault(trace, named);
          const fact = what === undefined ? undefined : await factOf(check);
          const cell = { when, ...named, at, what, fact, expects, rules: encode(rules) };
          say({ type: 'cell', cell });
        },
      });
    } catch (error) {
      // The cells hold the findings. Without a cell, there was no case, which the matrix shows, or
      // the undisturbed run failed.
      if (cases === 0 && !hasNoCases(error)) say({ type: 'baseline', message: toText(error) });
    }
  }
}

/** What a check says about the world that a red case left: the explorer has another finding. */
async function factOf(check: Playground['check']): Promise<string | undefined> {
  try {
    await check?.();
    return undefined;
  } catch (error) {
    return toText(error);
  }
}

function hasNoCases(error: unknown): boolean {
  return error instanceof SagaTestError && error.code === 'no_cases';
}

/** Runs a case again. The events of all cases of a long saga would fill the memory. */
export async function playCase(playground: Playground, cell: Cell): Promise<CaseView> {
  const { saga, options, rules } = playground.script;
  const faults = decode(cell.rules) as readonly Rule[];
  const disturbed = new TestSaga(saga, options, [...rules, ...faults]);
  const world = new World(disturbed.options, disturbed.rules);
  const machine = machines.trace?.(world, undefined);
  autoAnswerOn(world);
  // The explorer has reported the error.
  await disturbed.runOn(world).catch(() => undefined);
  // In a test, no explorer answers the questions without a rule.
  const answers = new Map(world.autoAnswered.map((rule) => [JSON.stringify(rule), rule])).values();
  const test = testOfCase(playground, cell, [...faults, ...answers], world);
  return { entries: Array.from(world.trace, toEntryView), test, machine: machine?.() };
}

function findFault(trace: readonly TraceEntry[], { subject }: Pick<Cell, 'subject'>): number {
  const at = trace.findIndex(({ type }) => type === 'crashed' || type === 'lost');
  const isChanged = ({ type, ...entry }: TraceEntry): boolean =>
    ['undone', 'undoFailed', 'gaveUp', 'refused'].includes(type) ||
    (type !== 'asked' && 'id' in entry && entry.id === subject);
  return at >= 0 ? at : Math.max(trace.findIndex(isChanged), 0);
}

/** Names a fault for the row of the step, question, or turn. */
function nameFault(rules: readonly Rule[], when: string): Pick<Cell, 'subject' | 'fault'> {
  const rule = rules.at(-1);
  if (rule === undefined || !('id' in rule || 'turn' in rule))
    return { subject: 'client', fault: when };
  if (rule.kind === 'loseResponse') return { subject: `turn ${rule.turn}`, fault: 'response lost' };
  const subject = rule.id.replace(/#1$/, '');
  if (rule.kind === 'crash' && rules.length > 1) return { subject, fault: 'dies, then no fault' };
  if (rule.kind === 'crash')
    return { subject, fault: `dies ${rule.when}${rule.run === 1 ? '' : `, run ${rule.run}`}` };
  return {
    subject,
    fault: failures[rule.kind] ?? when.replace(/^When '.*?' is (?:answered with )?/, ''),
  };
}

const failures: Partial<Readonly<Record<Rule['kind'], string>>> = {
  fail: 'fails',
  timeout: 'times out',
  lose: 'response lost',
};
