import type { ClientStep } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { describeForm, formOf, simplestContent } from '../script/form-content.ts';
import { kindOfStep, messageOf } from '../report/question-text.ts';
import { toSource } from '../script/script-source.ts';

/** Makes the error for a question without an answer, with a line to paste. */
export function unanswered(saga: string, step: ClientStep, scripted: readonly string[]): SagaTestError {
  const { stepId } = step;
  const lines = [`Nobody answers '${stepId}'. The saga '${saga}' ${asks(step)}:`, ''];
  for (const line of messageOf(step).split('\n')) lines.push(`    ${line}`);
  const form = formOf(step.params);
  if (form !== undefined) {
    lines.push('', ...describeForm(form).map((line) => `    ${line}`));
  }
  lines.push('', 'Answer it in the test:', '', `    ${suggestion(step)}`);
  if (step.type === 'elicitation') {
    lines.push('', `or refuse it: .refuse.elicit(${toSource(stepId)})`);
  }
  if (scripted.length > 0) lines.push('', `The script answers: ${scripted.join(', ')}.`);
  return new SagaTestError('unanswered', lines.join('\n'));
}

/** Formats a rule that answers a question. */
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
