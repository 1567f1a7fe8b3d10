import { problemsOf } from './validate.ts';

/** Definitions of the request and of the response of each saga method. */
const shapes: { readonly [method: string]: readonly [request: string, response: string] } = {
  'tools/callSaga': ['CallSagaRequest', 'SagaResponse'],
  'tools/resumeSaga': ['ResumeSagaRequest', 'SagaResponse'],
  'tools/cancelSaga': ['CancelSagaRequest', 'CancelSagaResponse'],
};

/**
 * Throws if an exchange of a saga method does not fit the published schema. A refused request may
 * have any form.
 */
export function validateExchange(
  request: { readonly method: string },
  response: { readonly error?: unknown },
): void {
  const shape = shapes[request.method];
  if (shape === undefined) return;
  const [sent, received] = shape;
  const problems =
    response.error === undefined
      ? [...problemsOf(sent, request), ...problemsOf(received, response)]
      : problemsOf('SagaErrorResponse', response);
  if (problems.length === 0) return;
  throw new Error(`${request.method} does not fit docs/spec/schema.json:\n${problems.join('\n')}`);
}
