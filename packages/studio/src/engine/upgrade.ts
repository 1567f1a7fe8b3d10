import { upgradeEverywhere, type Question, type Rule, type TestSaga } from '@mcp-saga/testing';
import { autoAnswerOn, failureReason, linesOf, World } from '@mcp-saga/testing/internal';
import type { Given, Session } from '../model/session.ts';
import type { Misfit } from '../model/view.ts';
import { byQuestion, toRule } from './export-test.ts';
import { answerValue } from './person.ts';
import { SessionPlayer } from './play.ts';
import type { Playground } from './playground.ts';
import { toText } from './to-view.ts';

/** Finds the tokens of the run that other code cannot continue, each with the first difference. */
export async function upgrade(
  old: Playground,
  next: Playground,
  session: Session,
): Promise<Misfit[]> {
  const player = new SessionPlayer(old, { ...session, forks: [] });
  await player.play();
  const { world, person } = player.run;
  // Only a run that suspends has a token that the other code can continue.
  if (world.points.length === 0) return [];
  const script = await expecting(old.script.with(...person.rules, ...sequence(person.given)));
  const { problems } = await upgradeEverywhere(script, next.script.saga, { reportOnly: true });
  return problems.flatMap((problem) => {
    const point = world.points.findIndex(({ turn }) => turn === problem.turn);
    const [, ...lines] = linesOf(problem).map((line) => toText(line.trim()));
    return point === -1 ? [] : [{ point, lines }];
  });
}

/** Expects the end of a run as it is: a person may also play a run that fails. */
async function expecting(script: TestSaga): Promise<TestSaga> {
  const world = new World(script.options, script.rules);
  autoAnswerOn(world);
  const { status, error } = await script.runOn(world);
  return status === 'completed' ? script : script.expectFailure(failureReason(error));
}

/** Rules that give the answers to each question in their order, in every run. */
function sequence(given: readonly Given[]): readonly Rule[] {
  return Array.from(byQuestion(given), ([id, own]): Rule => {
    const [first] = own as readonly [Given];
    if (own.length === 1) return toRule(first);
    const values = own.map(answerValue);
    const kind = typeof first.content === 'string' ? 'sample' : 'answer';
    return { kind, id, answer: ({ before }: Question) => values[before] ?? values.at(-1) };
  });
}
