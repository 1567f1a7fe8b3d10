import { abortable } from './abort.ts';
import { SagaAborted } from './errors.ts';
import type { McpClient } from './mcp-client.ts';
import { isRecord } from './record.ts';
import { registeredHandler } from './registered-handler.ts';
import { toStepAnswer } from './step-answer.ts';
import type { StepHandlers } from './step-handlers.ts';
import type { SuspendedSaga } from './suspended-saga.ts';
import type { SagaStep, StepAnswer, StepError, StepResult } from './wire.ts';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** Who fulfils the steps. */
export interface Fulfilment {
  readonly client: McpClient;
  readonly handlers: StepHandlers;
  readonly signal: AbortSignal;
}

/**
 * Asks all pending steps of a saga at the same time and gives the saga with the answers.
 *
 * @throws SagaAborted with the answers that were there when the signal aborted
 */
export async function fulfilSteps(saga: SuspendedSaga, fulfilment: Fulfilment): Promise<SuspendedSaga> {
  const answers: StepAnswer[] = [];
  const asked = saga.pending.map(async (step) => {
    answers.push(await answerStep(step, fulfilment));
  });
  try {
    await abortable(Promise.all(asked), fulfilment.signal);
  } catch (cause) {
    throw new SagaAborted({ cause, saga: saga.withAnswers(answers) });
  }
  return saga.withAnswers(answers);
}

async function answerStep(step: SagaStep, fulfilment: Fulfilment): Promise<StepAnswer> {
  const { stepId } = step;
  try {
    const result = await runHandler(step, fulfilment);
    if (!isResult(result)) {
      return {
        stepId,
        error: { code: INTERNAL_ERROR, message: `The handler for ${step.type} gave no result` },
      };
    }
    return toStepAnswer({ stepId, result });
  } catch (error) {
    return { stepId, error: toStepError(error) };
  }
}

async function runHandler(step: SagaStep, { client, handlers, signal }: Fulfilment): Promise<unknown> {
  switch (step.type) {
    case 'elicitation':
      if (handlers.elicitation) return handlers.elicitation(step.params, step, { signal });
      return runRegistered(client, 'elicitation/create', step, signal);
    case 'sampling':
      if (handlers.sampling) return handlers.sampling(step.params, step, { signal });
      return runRegistered(client, 'sampling/createMessage', step, signal);
    case 'roots':
      if (handlers.roots) return handlers.roots(step.params, step, { signal });
      return runRegistered(client, 'roots/list', step, signal);
    default:
      throw new NoHandler(`The client does not know steps of type '${unknownType(step)}'`);
  }
}

async function runRegistered(
  client: McpClient,
  method: string,
  step: SagaStep,
  signal: AbortSignal,
): Promise<unknown> {
  const handler = registeredHandler(client, method);
  if (handler === undefined) throw new NoHandler(`The client has no handler for ${method}`);
  return handler(step, signal);
}

class NoHandler extends Error {
  readonly code = METHOD_NOT_FOUND;
}

// The server sent it, so it may be sent back; a newer server knows what it means.
function unknownType(step: never): string {
  const { type }: { type: string } = step;
  return type;
}

// Each handler's own type says what it gives; the server checks it against the step.
function isResult(value: unknown): value is StepResult {
  return isRecord(value);
}

/** What the server is told of an error: never its stack or cause, and data only where the error was made for the wire. */
function toStepError(error: unknown): StepError {
  if (!(error instanceof Error)) return { code: INTERNAL_ERROR, message: 'The handler failed' };
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'number' || !Number.isInteger(code))
    return { code: INTERNAL_ERROR, message: error.message };
  const data: unknown = Reflect.get(error, 'data');
  return { code, message: error.message, ...(data === undefined || !isJson(data) ? {} : { data }) };
}

function isJson(value: unknown): boolean {
  try {
    return typeof JSON.stringify(value) === 'string';
  } catch {
    return false;
  }
}
