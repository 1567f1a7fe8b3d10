import { TestSaga, upgradeEverywhere, type Question, type Rule } from '@mcp-saga/testing';
import { linesOf } from '@mcp-saga/testing/internal';
import type { CompiledFile, Given, Session } from '../model/session.ts';
import type { Misfit } from '../model/view.ts';
import { answerValue } from './answer-value.ts';
import { evaluate } from './evaluate.ts';
import { toRule } from './export-test.ts';
import { SessionPlayer } from './play.ts';
import { toText } from './to-view.ts';

/** Finds the tokens of the run that other code cannot continue, each with the first difference. */
export async function upgrade(
  old: readonly CompiledFile[],
  next: readonly CompiledFile[],
  session: Session,
): Promise<readonly Misfit[]> {
  const player = new SessionPlayer(old, { ...session, forks: [] });
  await player.play();
  const { playground, points, given, rules } = player.run;
  const { saga, options, rules: own } = playground.script;
  const script = new TestSaga(saga, options, [...own, ...rules, ...sequence(given)]);
  const { script: changed } = evaluate(next, { files: old, evaluated: playground.evaluated });
  const { problems } = await upgradeEverywhere(script, changed.saga, { reportOnly: true });
  return problems.flatMap((problem) => {
    const point = points.findIndex(({ turn }) => turn === problem.turn);
    const [, ...lines] = linesOf(problem).map((line) => toText(line.trim()));
    return point === -1 ? [] : [{ point, lines }];
  });
}

/** Rules that give the answers to each question in their order, in every run. */
function sequence(given: readonly Given[]): readonly Rule[] {
  return [...new Set(given.map(({ id }) => id))].flatMap((id) => {
    const own = given.filter((each) => each.id === id);
    const [first] = own;
    if (first === undefined || own.length === 1) return own.map((each) => toRule(each));
    const values = own.map((each) => answerValue(each));
    const kind = typeof first.content === 'string' ? 'sample' : 'answer';
    return [{ kind, id, answer: ({ before }: Question) => values[before] ?? values.at(-1) }];
  });
}
