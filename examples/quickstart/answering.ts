import type { SagaStep, CompletedStep } from '@mcp-saga/client';

/** Fulfils one step of a saga: asks the person, the model, or nobody. */
export type Answering = (step: SagaStep) => Promise<CompletedStep>;

/** Answers the quickstart's questions without asking anybody. */
export const answerByScript: Answering = async ({ type, stepId }) => {
  switch (type) {
    case 'elicitation':
      return { stepId, result: { action: 'accept', content: { target: 'production' } } };
    case 'sampling':
      return {
        stepId,
        result: {
          role: 'assistant',
          content: { type: 'text', text: 'Yes, all systems are green.' },
          model: 'client-side-llm-v2',
        },
      };
    case 'roots':
      return notAnswered(stepId);
  }
};

/** The answer of a client that cannot do what is asked. */
export function notAnswered(stepId: string): CompletedStep {
  return { stepId, error: { code: -32601, message: 'The quickstart does not answer this' } };
}
