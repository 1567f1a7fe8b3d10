import type { SagaStep } from '@mcp-saga/client';
import type { Client } from '@modelcontextprotocol/client';
import type { Answering } from '../terminal/person.ts';

const types: Readonly<Record<string, SagaStep['type']>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Returns the result for a request of MCP. Throws if the answer is an error. */
export type RequestAnswering = (
  method: string,
  params: unknown,
  stepId?: string,
) => Promise<object>;

/** Answers requests of MCP as steps of a saga. A request without an ID has its type as ID. */
export function answeringRequests(answer: Answering): RequestAnswering {
  const asked: string[] = [];
  return async (method, params, stepId) => {
    const type = types[method];
    if (type === undefined)
      throw new Error(`The server asks for '${method}', which has no answer.`);
    const step = withReason({ stepId: stepId ?? type, type, params } as SagaStep, asked);
    const { result, error } = await answer(step);
    if (error !== undefined) throw new Error(error.message);
    return result;
  };
}

/** Answers all requests to a client. Rejects if a question has no answer. */
export function answerRequests(client: Client, answer: Answering): Promise<never> {
  return new Promise((_, reject) => {
    const answered = answeringRequests((step) =>
      answer(step).catch((thrown: unknown) => {
        reject(thrown);
        throw thrown;
      }),
    );
    for (const method of Object.keys(types) as ['elicitation/create'])
      client.setRequestHandler(
        method,
        async ({ params }) => (await answered(method, params)) as never,
      );
  });
}

/**
 * Moves the reason of a repeated form out of its message: MCP has no other place for the reason.
 */
function withReason(step: SagaStep, asked: string[]): SagaStep {
  if (step.type !== 'elicitation') return step;
  const { message } = step.params;
  const first = asked.find((text) => message.startsWith(`${text}\n\n(`));
  if (first === undefined) {
    asked.push(message);
    return step;
  }
  return {
    ...step,
    params: { ...step.params, message: first },
    reason: message.slice(first.length + 3, -1),
  };
}
