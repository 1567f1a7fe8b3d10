import type { ClientStep } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { describeForm, formOf, simplestContent } from '../script/form-content.ts';
import { kindOfStep, messageOf } from '../report/trace-questions.ts';
import type { Rule } from '../script/script-rules.ts';
import { misspelledAnswer } from '../values/step-ids.ts';
import type { World } from './world.ts';
import { toSource } from '../script/script-source.ts';

/** Makes the error for a question without an answer, with a line to paste. */
export function unanswered(saga: string, step: ClientStep, { rules, used }: World): SagaTestError {
  const { stepId } = step;
  const lines = [`No answer to '${stepId}'. The saga '${saga}' ${asks(step)}:`, ''];
  for (const line of messageOf(step).split('\n')) lines.push(`    ${line}`);
  const form = formOf(step.params);
  if (form !== undefined) {
    lines.push('', ...describeForm(form).map((line) => `    ${line}`));
  }
  lines.push('', 'Answer it in the test:', '', `    ${suggestion(step)}`);
  if (step.type === 'elicitation') {
    lines.push('', `or refuse it: .refuse.elicit(${toSource(stepId)})`);
  }
  const misspelled = misspelledAnswer(
    stepId,
    answeredIds(rules.all.filter((rule) => !used.has(rule))),
    'script',
  );
  const scripted = answeredIds(rules.all);
  if (misspelled !== '') lines.push('', misspelled);
  else if (scripted.length > 0) lines.push('', `The script answers: ${scripted.join(', ')}.`);
  return new SagaTestError('unanswered', lines.join('\n'));
}

function answeredIds(rules: readonly Rule[]): readonly string[] {
  const ids = rules.flatMap((rule) =>
    rule.kind === 'answer' ||
    rule.kind === 'refuse' ||
    rule.kind === 'sample' ||
    rule.kind === 'roots'
      ? [rule.id]
      : [],
  );
  return [...new Set(ids)];
}

export function suggestion(step: ClientStep): string {
  const id = toSource(step.stepId);
  switch (kindOfStep(step)) {
    case 'sample':
      return `.on.sample(${id}, 'Yes')`;
    case 'roots':
      return `.on.roots(${id}, [{ uri: 'file:///project' }])`;
    case 'elicitUrl':
      return `.on.url(${id})`;
    case 'elicit': {
      const form = formOf(step.params);
      return `.on.elicit(${id}, ${toSource(form === undefined ? {} : simplestContent(form))})`;
    }
  }
}

function asks(step: ClientStep): string {
  switch (kindOfStep(step)) {
    case 'sample':
      return "asks the client's model";
    case 'roots':
      return "asks for the client's roots";
    case 'elicitUrl':
      return 'sends the user to a page';
    case 'elicit':
      return 'asks the user';
  }
}
