import type { ClientStep, Json, StepAnswer } from '@mcp-saga/server';
import type { Root } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { describeForm, formOf, simplestContent } from '../script/form-content.ts';
import type { Question } from '../script/script-answers.ts';
import { kindOfStep, messageOf } from '../report/trace-questions.ts';
import type { Rule } from '../script/script-rules.ts';
import { indented, show } from '../values/show.ts';
import type { World } from './world.ts';
import { unanswered } from './unanswered-question.ts';

// A function may correct a rejected answer.
const maxTries = 5;

/**
 * Answers a question by the script. Throws `unanswered`, `answer_not_accepted`, or
 * `not_deterministic`.
 */
export async function answerTo(world: World, saga: string, step: ClientStep): Promise<StepAnswer> {
  const { stepId } = step;
  const before = world.answered.get(stepId) ?? 0;
  world.answered.set(stepId, before + 1);
  const nth = `${stepId} ${before}`;
  const answer =
    world.playback?.answers.get(nth) ?? (await answerByRule(world, saga, step, before));
  world.tape.answers.set(nth, answer);
  return answer;
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
    !isForked &&
    (typeof given === 'function' || (rule === undefined && world.autoAnswer !== undefined));
  if (reason !== undefined && (!mayTryAgain || before >= maxTries) && !isReworded(world, step))
    throw notAccepted(
      world,
      saga,
      step,
      isForked ? { fork: sentFor(world, stepId) } : { script: given },
    );
  if (rule === undefined) {
    const autoAnswered = world.autoAnswer?.(step);
    if (autoAnswered !== undefined) return autoAnswered;
    throw unanswered(saga, step, world);
  }
  world.use(rule);
  const question: Question = {
    id: stepId,
    message: messageOf(step),
    params: step.params,
    before,
    reason,
  };
  const answer: unknown =
    typeof given === 'function' ? await (given as (q: Question) => unknown)(question) : given;
  const isRefusal = rule.kind === 'answer' && typeof given === 'function' && isRefusing(answer);
  return isRefusal ? answerWith(step, answer) : answerOf(step, rule, answer);
}

function isRefusing(answer: unknown): answer is 'decline' | 'cancel' {
  return answer === 'decline' || answer === 'cancel';
}

/** `true` if an open question changed with the code. The answer goes to the new question, once. */
function isReworded({ mayMismatch, reworded }: World, { stepId, reason }: ClientStep): boolean {
  if (!mayMismatch || !hasChanged(reason) || reworded.has(stepId)) return false;
  reworded.add(stepId);
  return true;
}

/** `true` for the reason of a question that changed with the code. */
export function hasChanged(reason = ''): boolean {
  return reason.startsWith('the question has changed');
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

/**
 * Makes the answer to a question: content of a form, or `decline` or `cancel`; what a model says;
 * roots.
 */
export function answerWith(step: ClientStep, answer: unknown): StepAnswer {
  const { stepId: id, type } = step;
  if (type === 'sampling') return answerOf(step, { kind: 'sample', id, answer }, answer);
  if (type === 'roots')
    return answerOf(step, { kind: 'roots', id, roots: answer as readonly Root[] }, answer);
  return isRefusing(answer)
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
      `The saga '${saga}' changes the question '${stepId}' in each turn, so its answer was never used. The question depends on ` +
        'something that varies between replays: the time, randomness, a global, the order of an outside object. Use yield* ' +
        'now() and yield* random(), and read other values in a step: the journal keeps its result.\n\n' +
        both(world.asked.get(stepId), step),
    );
  }
  const form = formOf(step.params);
  const asks =
    form === undefined ? '' : `\n\nIt asks for:\n\n${describeForm(form).map(indented).join('\n')}`;
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
  const unseen = asked === text ? '\n\nThe text is the same, but other parameters differ.' : '';
  return `First it asked:\n\n${indented(asked)}\n\nNow it asks:\n\n${indented(text)}${unseen}`;
}

/**
 * Auto-answers questions without a rule in the simplest way, and stores the answers as rules for a
 * pasted script.
 */
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
