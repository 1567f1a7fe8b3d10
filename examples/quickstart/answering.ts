import type { CompletedStep } from '@mcp-saga/client';
import type { Answering } from 'mcp-saga/terminal';

export type { Answering };

/** Answers the questions of the quickstart by script. */
export const answerByScript: Answering = async ({ type, stepId }) => {
  switch (type) {
    case 'elicitation':
      return { stepId, result: { action: 'accept', content: { amount: 15 } } };
    case 'sampling':
      return {
        stepId,
        result: {
          role: 'assistant',
          content: { type: 'text', text: 'Yes, a week is too long.' },
          model: 'client-side-llm-v2',
        },
      };
    case 'roots':
      return notAnswered(stepId);
  }
};

/** Answers as a client without the needed capability. */
function notAnswered(stepId: string): CompletedStep {
  return {
    stepId,
    error: { code: -32601, message: 'The quickstart does not answer this question' },
  };
}

/** `true` if a person refused to answer: declined, dismissed, or kept the model from answering. */
export function isRefusal({ result, error }: CompletedStep): boolean {
  if (error !== undefined) return error.code === -1;
  return 'action' in result && result.action !== 'accept';
}
