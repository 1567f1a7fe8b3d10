import type { ClientStep, Json, StepAnswer } from '@mcp-saga/server';
import type { Root } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { describeForm, formOf, simplestContent } from '../script/form-content.ts';
import type { Question } from '../script/script-answers.ts';
import { kindOfStep, messageOf } from '../report/question-text.ts';
import type { Rule } from '../script/script-rules.ts';
import { indented, show } from '../values/show.ts';
import { noteOn, type World } from './world.ts';
import { unanswered } from './unanswered-question.ts';

// A function may be told why its answer was not accepted, and try again.
const maxTries = 5;

/** Answers a question by the script. Throws `unanswered`, `answer_not_accepted`, or `not_deterministic`. */
export async function answerTo(world: World, saga: string, step: ClientStep): Promise<StepAnswer> {
  const { stepId } = step;
  const before = world.answered.get(stepId) ?? 0;
  world.answered.set(stepId, before + 1);
  const played = world.playback?.answers.get(stepId)?.[before];
  return noteOn(world.tape.answers, stepId, played ?? (await answerByRule(world, saga, step, before)));
}

async function answerByRule(
  world: World,
  saga: string,
  step: ClientStep,
  before: number,
): Promise<StepAnswer> {
  const { stepId, reason } = step;
  const rule = world.rules.find(kindsFor(step), stepId);
  const given = rule === undefined ? undefined : 'answer' in rule ? rule.answer : undefined;
  const isForked = world.forked.has(stepId);
  const mayTryAgain =
    !isForked && (typeof given === 'function' || (rule === undefined && world.autoAnswer !== undefined));
  if (reason !== undefined && (!mayTryAgain || before >= maxTries) && !isReworded(world, step))
    throw notAccepted(world, saga, step, isForked ? { fork: sentFor(world, stepId) } : { script: given });
  if (rule === undefined) {
    const autoAnswered = world.autoAnswer?.(step);
    if (autoAnswered !== undefined) return autoAnswered;
    throw unanswered(saga, step, answeredIds(world.rules.all));
  }
  world.use(rule);
  const question: Question = { id: stepId, message: messageOf(step), params: step.params, before, reason };
  const answer: unknown =
    typeof given === 'function' ? await (given as (q: Question) => unknown)(question) : given;
  return answerOf(step, rule, answer);
}

/** `true` if an open question changed with the code. Its answer goes to the new question, once. */
function isReworded({ mayMismatch, reworded }: World, { stepId, reason }: ClientStep): boolean {
  if (!mayMismatch || !hasChanged(reason) || reworded.has(stepId)) return false;
  reworded.add(stepId);
  return true;
}

function hasChanged(reason = ''): boolean {
  return reason.startsWith('the question has changed');
}

function answeredIds(rules: readonly Rule[]): readonly string[] {
  const ids = rules.flatMap((rule) =>
    rule.kind === 'answer' || rule.kind === 'refuse' || rule.kind === 'sample' || rule.kind === 'roots'
      ? [rule.id]
      : [],
  );
  return [...new Set(ids)];
}

/** A rule that answers a question. */
export type AnsweringRule = Extract<Rule, { readonly kind: ReturnType<typeof kindsFor>[number] }>;

function kindsFor({
  type,
}: ClientStep): readonly ('answer' | 'refuse' | 'sample' | 'roots' | 'clientError')[] {
  switch (type) {
    case 'elicitation':
      return ['answer', 'refuse', 'clientError'];
    case 'sampling':
      return ['sample', 'clientError'];
    case 'roots':
      return ['roots', 'clientError'];
  }
}

export function answerOf(step: ClientStep, rule: AnsweringRule, given: unknown): StepAnswer {
  const { stepId } = step;
  switch (rule.kind) {
    case 'refuse':
      return { stepId, result: { action: rule.action } };
    case 'clientError':
      return { stepId, error: { code: -32603, message: rule.message } };
    case 'roots':
      return { stepId, result: { roots: rule.roots as unknown as Json } };
    case 'sample':
      return {
        stepId,
        result: (typeof given === 'string'
          ? { role: 'assistant', model: 'test', content: { type: 'text', text: given } }
          : given) as Json,
      };
    case 'answer': {
      const url = kindOfStep(step) === 'elicitUrl';
      return { stepId, result: { action: 'accept', ...(url ? {} : { content: given as Json }) } };
    }
  }
}

/** Makes the answer to a question: content of a form, or `decline` or `cancel`; what a model says; roots. */
export function answerWith(step: ClientStep, answer: unknown): StepAnswer {
  const { stepId: id, type } = step;
  if (type === 'sampling') return answerOf(step, { kind: 'sample', id, answer }, answer);
  if (type === 'roots')
    return answerOf(step, { kind: 'roots', id, roots: answer as readonly Root[] }, answer);
  return answer === 'decline' || answer === 'cancel'
    ? answerOf(step, { kind: 'refuse', id, action: answer }, answer)
    : answerOf(step, { kind: 'answer', id, answer }, answer);
}

function sentFor({ sent }: World, stepId: string): unknown {
  const answer = sent.get(stepId);
  const result: unknown = answer !== undefined && 'result' in answer ? answer.result : undefined;
  const { content } = Object(result) as { readonly content?: unknown };
  return content ?? result;
}

function notAccepted(
  world: World,
  saga: string,
  step: ClientStep,
  by: { readonly script: unknown } | { readonly fork: unknown },
): SagaTestError {
  const { stepId, reason = '' } = step;
  if (hasChanged(reason)) {
    return new SagaTestError(
      'not_deterministic',
      `The saga '${saga}' asks '${stepId}' otherwise in each turn, so its answer was never used. What it asks is made of ` +
        'something that varies between two replays: the time, randomness, the order of an object from outside, a ' +
        'global. Read the time with yield* now(), randomness with yield* random(), everything else in a step, which ' +
        'is journalled.\n\n' +
        both(world.asked.get(stepId), step),
    );
  }
  const form = formOf(step.params);
  const asks = form === undefined ? '' : `\n\nIt asks for:\n\n${describeForm(form).map(indented).join('\n')}`;
  return new SagaTestError(
    'answer_not_accepted',
    `The answer to '${stepId}' was not accepted: ${reason}.\n\n${'fork' in by ? 'The fork' : 'The script'} answers:\n\n` +
      `${indented(show('fork' in by ? by.fork : by.script))}${asks}`,
  );
}

function both(before: ClientStep | undefined, now: ClientStep): string {
  const text = messageOf(now);
  if (before === undefined) return `Now it asks:\n\n${indented(text)}`;
  const asked = messageOf(before);
  const unseen = asked === text ? '\n\nThe text is the same: what else it asks with differs.' : '';
  return `First it asked:\n\n${indented(asked)}\n\nNow it asks:\n\n${indented(text)}${unseen}`;
}

/** Gives the simplest answer to each question that the script does not answer, and stores it as a rule for a pasted script. */
export function autoAnswerOn(world: World): void {
  world.autoAnswer = (step) => {
    const rule = simplestRule(step);
    if (step.reason === undefined) world.autoAnswered.push(rule);
    return answerOf(step, rule, 'answer' in rule ? rule.answer : undefined);
  };
}

function simplestRule({ type, stepId: id, params }: ClientStep): AnsweringRule {
  switch (type) {
    case 'elicitation': {
      const form = formOf(params);
      return { kind: 'answer', id, answer: form === undefined ? {} : simplestContent(form) };
    }
    case 'sampling':
      return { kind: 'sample', id, answer: 'Yes' };
    case 'roots':
      return { kind: 'roots', id, roots: [] };
  }
}
