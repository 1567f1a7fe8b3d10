import { abortable } from '../runtime/abort.ts';
import { SagaCallAborted, SagaStepUnhandled } from '../model/errors.ts';
import type { McpClient } from '../model/mcp-client.ts';
import { isRecord, copyJson } from '../runtime/json.ts';
import { registeredHandler } from './registered-handler.ts';
import type { StepHandlers } from '../model/step-handlers.ts';
import type { SuspendedSaga } from '../model/saga-turn.ts';
import type { SagaStep, CompletedStep, JsonRpcError, StepResult } from '../model/wire.ts';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** Who fulfills the steps. */
export interface Fulfillment {
  readonly client: McpClient;
  readonly handlers: StepHandlers;
  readonly signal: AbortSignal;
}

/**
 * Asks all pending steps of a saga at the same time and gives the saga with the answers.
 *
 * @throws SagaStepUnhandled before anything is asked
 * @throws SagaCallAborted with the answers that were there when the signal aborted
 */
export async function fulfillSteps(saga: SuspendedSaga, fulfillment: Fulfillment): Promise<SuspendedSaga> {
  const answers: CompletedStep[] = [];
  const handled = saga.pending.map((step) => [step, handlerOf(step, saga, fulfillment)] as const);
  const asked = handled.map(async ([step, handle]) => {
    answers.push(await answerStep(step, handle));
  });
  try {
    await abortable(Promise.all(asked), fulfillment.signal);
  } catch (cause) {
    throw new SagaCallAborted({ cause, saga: saga.withAnswers(answers) });
  }
  return saga.withAnswers(answers);
}

async function answerStep(step: SagaStep, handle: () => unknown): Promise<CompletedStep> {
  const { stepId } = step;
  try {
    const result = await handle();
    if (!isResult(result)) {
      return {
        stepId,
        error: { code: INTERNAL_ERROR, message: `The handler for ${step.type} gave no result` },
      };
    }
    return copyJson<CompletedStep>({ stepId, result });
  } catch (error) {
    return { stepId, error: toStepError(error) };
  }
}

/** What fulfills a step. */
function handlerOf(step: SagaStep, saga: SuspendedSaga, fulfillment: Fulfillment): () => unknown {
  const { handlers, signal } = fulfillment;
  switch (step.type) {
    case 'elicitation':
      if (handlers.elicitation) return () => handlers.elicitation?.(step.params, step, { signal });
      return registered(step, 'elicitation/create', saga, fulfillment);
    case 'sampling':
      if (handlers.sampling) return () => handlers.sampling?.(step.params, step, { signal });
      return registered(step, 'sampling/createMessage', saga, fulfillment);
    case 'roots':
      if (handlers.roots) return () => handlers.roots?.(step.params, step, { signal });
      return registered(step, 'roots/list', saga, fulfillment);
    default: {
      const type = unknownType(step);
      // No handler could be given for it: a newer server knows what it means to be told so.
      return () => {
        throw new UnknownStep(`The client does not know steps of type '${type}'`);
      };
    }
  }
}

function registered(
  step: SagaStep,
  method: string,
  saga: SuspendedSaga,
  { client, signal }: Fulfillment,
): () => unknown {
  const handler = registeredHandler(client, method);
  if (handler === undefined) throw new SagaStepUnhandled(step, method, { saga });
  return () => handler(step, signal);
}

class UnknownStep extends Error {
  readonly code = METHOD_NOT_FOUND;
}

// The server sent it, so it may be sent back.
function unknownType(step: never): string {
  const { type }: { type: string } = step;
  return type;
}

// Each handler's own type says what it gives; the server checks it against the step.
function isResult(value: unknown): value is StepResult {
  return isRecord(value);
}

/** What the server is told of an error: never its stack or cause, and data only where the error was made for the wire. */
function toStepError(error: unknown): JsonRpcError {
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
