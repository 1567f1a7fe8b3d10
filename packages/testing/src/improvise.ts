import type { ClientStep, Json, StepAnswer } from '@mcp-saga/server';
import { formOf, simplestContent } from './form-content.ts';

/** The simplest answer there is to a question: for the ways a saga goes that a script does not foresee. */
export function improvise({ type, stepId, params }: ClientStep): StepAnswer {
  switch (type) {
    case 'elicitation': {
      const form = formOf(params);
      const content = form === undefined ? {} : { content: simplestContent(form) as Json };
      return { stepId, result: { action: 'accept', ...content } };
    }
    case 'sampling':
      return {
        stepId,
        result: { role: 'assistant', model: 'test', content: { type: 'text', text: 'Yes' } },
      };
    case 'roots':
      return { stepId, result: { roots: [] } };
  }
}
