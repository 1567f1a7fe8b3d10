import { abortable } from '../runtime/abort.ts';
import { SagaCallAborted, SagaStepUnhandled } from '../model/errors.ts';
import type { McpClient } from '../model/mcp-client-types.ts';
import { isRecord, copyJson } from '../runtime/json.ts';
import { registeredHandler } from './registered-handler.ts';
import type { StepHandlers } from '../model/step-handlers.ts';
import type { SuspendedSaga } from '../model/client-turn-types.ts';
import type { SagaStep, CompletedStep, JsonRpcError, StepResult } from '../model/wire-types.ts';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** Handlers of the steps. */
export interface Fulfillment {
  readonly client: McpClient;
  readonly handlers: StepHandlers;
  readonly signal: AbortSignal;
}

/**
 * Asks all pending steps at the same time, and returns the saga with the answers. Throws
 * SagaStepUnhandled before asking, and SagaCallAborted with the answers so far.
 */
export async function fulfillSteps(
  saga: SuspendedSaga,
  fulfillment: Fulfillment,
): Promise<SuspendedSaga> {
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
    if (!isRecord(result))
      throw new TypeError(`The handler for ${step.type} did not return a result`);
    // The type of the handler fixes the result; the server checks the value.
    return copyJson<CompletedStep>({ stepId, result: result as unknown as StepResult });
  } catch (error) {
    return { stepId, error: toStepError(error) };
  }
}

const methods = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

/** Finds the handler of a step: the one in the options, or the one registered on the client. */
function handlerOf(step: SagaStep, saga: SuspendedSaga, fulfillment: Fulfillment): () => unknown {
  const { client, handlers, signal } = fulfillment;
  const { type } = step;
  if (!Object.hasOwn(methods, type)) {
    // A newer server sent the step, and understands this answer.
    return () => {
      throw new UnknownStep(`The client does not support steps of type '${type}'`);
    };
  }
  // The type of the handler fits the step.
  if (handlers[type])
    return () => handlers[type]?.(step.params as never, step as never, { signal });
  const registered = registeredHandler(client, methods[type]);
  if (registered === undefined) throw new SagaStepUnhandled(step, methods[type], { saga });
  return () => registered(step, signal);
}

class UnknownStep extends Error {
  readonly code = METHOD_NOT_FOUND;
}

/**
 * Converts an error for the server, without stack and cause. Includes data only if the error has a
 * JSON-RPC code.
 */
function toStepError(error: unknown): JsonRpcError {
  if (!(error instanceof Error)) return { code: INTERNAL_ERROR, message: 'The handler failed' };
  const { message, code, data } = error as Error & {
    readonly code?: unknown;
    readonly data?: unknown;
  };
  if (!Number.isInteger(code)) return { code: INTERNAL_ERROR, message };
  return { code: code as number, message, ...(isJson(data) ? { data } : {}) };
}

function isJson(value: unknown): boolean {
  try {
    return typeof JSON.stringify(value) === 'string';
  } catch {
    return false;
  }
}
