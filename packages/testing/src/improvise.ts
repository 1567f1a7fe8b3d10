import type { ClientStep } from '@mcp-saga/server';
import { answerOf, type AnsweringRule } from './answering.ts';
import { formOf, simplestContent } from './form-content.ts';
import type { Stage } from './stage.ts';

/**
 * Answers what a script does not foresee in the simplest way there is: for the ways a saga goes that nobody has thought of.
 * What was answered so is noted, since a script to be pasted has to say it.
 */
export function improviseOn(stage: Stage): void {
  stage.improvise = (step) => {
    const rule = simplestRule(step);
    if (step.reason === undefined) stage.improvised.push(rule);
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
