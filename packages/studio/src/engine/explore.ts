import {
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  TestSaga,
  type ExploreOptions,
  type Rule,
} from '@mcp-saga/testing';
import { autoAnswerOn, World } from '@mcp-saga/testing/internal';
import type { CompiledFile } from '../model/session.ts';
import type { Reply } from '../model/messages.ts';
import type { CaseView, Cell, Explorer } from '../model/view.ts';
import { evaluate } from './evaluate.ts';
import { testOfCase } from './export-test.ts';
import { toEntryView, toText } from './to-view.ts';

const explorers = { refuse: refuseEverywhere, crash: crashEverywhere, fail: failEverywhere } as const;

/** Explores the script of the files, and reports each case. */
export async function explore(files: readonly CompiledFile[], report: (reply: Reply) => void): Promise<void> {
  for (const explorer of Object.keys(explorers) as Explorer[]) {
    const { script, check, harmless } = evaluate(files);
    let cases = 0;
    const options: ExploreOptions = {
      harmless,
      ...(check === undefined ? {} : { check }),
      onCase: ({ when, what, expects, script: disturbed }) => {
        cases += 1;
        const rules = disturbed.rules.slice(script.rules.length);
        report({ type: 'cell', cell: { explorer, when, ...nameFault(rules, when), what, expects, rules } });
      },
    };
    try {
      // oxlint-disable-next-line no-await-in-loop -- the cases share the fakes of the files
      await explorers[explorer](script, options);
    } catch (error) {
      // The cells hold the findings. Without a cell, the undisturbed run failed.
      if (cases === 0) report({ type: 'baseline', explorer, message: toText(error) });
    }
  }
}

/** Runs a case again. The events of all cases of a long saga would fill the memory. */
export async function playCase(
  files: readonly CompiledFile[],
  { when, expects, rules }: Pick<Cell, 'when' | 'expects' | 'rules'>,
): Promise<CaseView> {
  const { script, exported } = evaluate(files);
  const disturbed = new TestSaga(script.saga, script.options, [...script.rules, ...rules]);
  const world = new World(disturbed.options, disturbed.rules);
  autoAnswerOn(world);
  // The explorer has reported the error.
  await disturbed.runOn(world).catch(() => undefined);
  return {
    entries: Array.from(world.trace, toEntryView),
    test: testOfCase(exported, when, disturbed, expects),
  };
}

/** Names a fault for the row of the step, question, or turn. */
function nameFault(
  rules: readonly Rule[],
  when: string,
): { readonly subject: string; readonly fault: string } {
  const rule = rules.at(-1);
  if (rule === undefined || rule.kind === 'deny') return { subject: 'client', fault: when };
  if (rule.kind === 'loseResponse') return { subject: `turn ${rule.turn}`, fault: 'response lost' };
  const subject = rule.id;
  if (rule.kind === 'crash') {
    const run = rule.run === 1 ? '' : `, run ${rule.run}`;
    return { subject, fault: rules.length > 1 ? 'dies, then no fault' : `dies ${rule.when}${run}` };
  }
  return { subject, fault: failures[rule.kind] ?? when.replace(/^When '.*?' is (?:answered with )?/, '') };
}

const failures: Partial<Readonly<Record<Rule['kind'], string>>> = {
  fail: 'fails',
  timeout: 'times out',
  lose: 'response lost',
};
