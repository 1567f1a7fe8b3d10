import type { ClientStep } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { edgesOf } from '../script/form-edges.ts';
import { formOf, type Content } from '../script/form-content.ts';
import type { Rule } from '../script/script-rules.ts';
import { unrepeated } from '../values/step-ids.ts';
import type { AskedOutside } from '../world/outside-world.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { assertCases, baselineOf, programmingError } from './baseline.ts';
import { casesOfFaults, explore, exploreNames, judging, scriptOf } from './exploration.ts';
import type { Case, Explored, ExploreOptions, ExploreReport, Fault } from './exploration.ts';
import { forgotten } from './nothing-forgotten.ts';

/**
 * Declines and dismisses each question, the first time and each time, and answers it at the edges
 * of its schema: smallest, largest, empty, longest, each choice, left out. A model says nothing, or
 * fails. A question with a deadline is answered after it, and never. An approval is denied, and
 * neither an approval nor an event is answered, or it is answered after its deadline.
 *
 * A saga that then fails must undo every effect or name it as uncompensated, and must never fail
 * because of a mistake in its own code. Answers that the schema rejects are skipped.
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', ({ idempotencyKey }) => api.ship(idempotencyKey));
 *   return 'done';
 * });
 * await refuseEverywhere(testSaga(order));
 * ```
 */
export async function refuseEverywhere(
  script: Script,
  options: ExploreOptions = {},
): Promise<ExploreReport> {
  const test = scriptOf('refuseEverywhere', script, options, exploreNames);
  const baseline = await baselineOf(test);
  const find = judging({
    test,
    baseline,
    check: options.check,
    onCase: options.onCase,
    judge: (refused, before) =>
      forgotten(refused, options) ?? programmingError(refused.run, before.run),
    revise: (finding) =>
      finding.cause instanceof SagaTestError && finding.cause.code === 'answer_not_accepted'
        ? undefined
        : finding,
  });
  const cases = casesOf(test, baseline);
  assertCases(
    'refuseEverywhere',
    cases,
    'the saga asks no question. Leave it out for this saga, or give the script an input with which the saga asks.',
  );
  return await explore(cases, find);
}

function casesOf(test: TestSaga, baseline: Explored): readonly Case[] {
  const asked = new Map<string, ClientStep>();
  const answers = new Map<string, unknown>();
  const deadlines = new Map<string, number>();
  for (const point of baseline.run.points) {
    for (const step of point.asked) {
      const { stepId: id } = step;
      // A deadline beside a question to the model is usually that of a person.
      const canBeDue = !asked.has(id) && (point.asked.length === 1 || step.type === 'elicitation');
      if (canBeDue && point.due !== undefined) deadlines.set(id, point.due - point.time);
      asked.set(id, step);
    }
    for (const answer of point.answers)
      if ('result' in answer) answers.set(answer.stepId, answer.result);
  }
  const faults = [...asked].map(
    ([id, step]) =>
      [id, [...rulesFor(step, answers.get(id)), ...timesFor(id, deadlines.get(id))]] as const,
  );
  for (const question of baseline.world.outside.asked.values())
    faults.push([question.id, [...outsideRules(question)]]);
  return faults.flatMap(([id, own]) => {
    const alike = [...asked.keys()].filter((each) => unrepeated(each) === id).toReversed();
    const refusals = alike.length > 1 ? own.filter(([, { kind }]) => kind === 'refuse') : [];
    const faultOf = (rule: Rule): Rule[] =>
      alike.map((one) => onlyOnce(['', { ...rule, id: one } as Rule])[1]);
    const named = refusals.map(([how, rule]): Fault => [`${how} each time`, rule]);
    const each = casesOfFaults(test, `When '${id}' is`, named);
    const again = each.map((one) => ({ ...one, fault: one.fault.flatMap(faultOf) }));
    return [...casesOfFaults(test, `When '${id}' is`, own.map(onlyOnce)), ...again];
  });
}

/** Leaves the repetitions of a question to the script: a saga may ask until the answer is yes. */
function onlyOnce([how, rule]: Fault): Fault {
  const isFirst = 'id' in rule && rule.id === unrepeated(rule.id);
  return [how, isFirst ? { ...rule, id: `${rule.id}#1` } : rule];
}

/** Everybody denies, nobody answers, and the answers come after the deadline. */
function outsideRules({
  id,
  question: { kind: what },
  began,
  deadline,
}: AskedOutside): readonly Fault[] {
  const rule = (given: boolean): Rule => ({ kind: 'outside', id, what, given: given ? [] : false });
  return [
    ...(what === 'approval' ? [['denied by everybody', rule(false)] as const] : []),
    ['answered by nobody', rule(true)],
    ['answered a minute after its deadline', { kind: 'late', id, ms: deadline - began + 60_000 }],
  ];
}

/** Answers after the deadline of a question, and no answer at all. */
function timesFor(id: string, deadline: number | undefined): readonly Fault[] {
  if (deadline === undefined) return [];
  return [
    [
      'answered a minute after its deadline',
      { kind: 'late', id, ms: Math.max(0, deadline) + 60_000 },
    ],
    ['not answered by its deadline', { kind: 'silent', id, ms: Math.max(1, deadline) }],
  ];
}

function rulesFor(step: ClientStep, answer: unknown): readonly Fault[] {
  const { type, stepId: id, params } = step;
  switch (type) {
    case 'elicitation': {
      const form = formOf(params);
      const { content } = Object(answer) as { readonly content?: Content };
      const edges = form === undefined ? [] : edgesOf(form, content);
      return [
        ['declined', { kind: 'refuse', id, action: 'decline' }],
        ['dismissed', { kind: 'refuse', id, action: 'cancel' }],
        ...edges.map(
          (edge) =>
            [`answered with ${edge.what}`, { kind: 'answer', id, answer: edge.content }] as const,
        ),
      ];
    }
    case 'sampling':
      return [
        ['answered with nothing', { kind: 'sample', id, answer: '' }],
        ['answered with an image', { kind: 'sample', id, answer: image }],
        [
          'not answered, but an error is',
          { kind: 'clientError', id, message: 'The user rejected the request' },
        ],
      ];
    case 'roots':
      return [
        ['answered with no root', { kind: 'roots', id, roots: [] }],
        ['not answered, but an error is', { kind: 'clientError', id, message: 'No roots here' }],
      ];
  }
}

const picture = { type: 'image', data: '', mimeType: 'image/png' };
const image = { role: 'assistant', model: 'test', content: picture };
