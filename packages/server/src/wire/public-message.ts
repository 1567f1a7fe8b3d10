import { SagaError, StepError } from '@mcp-saga/core';

/**
 * What the client may read about a failure. Messages of errors stay with the host unless their author wrote them for
 * the client (`SagaError`); ids of steps may go out.
 */
export function publicMessageOf(saga: string, error: unknown): string {
  if (error instanceof SagaError && error.public) return error.message;
  if (error instanceof StepError) return `'${saga}' failed at step '${error.stepId}'.`;
  if (error instanceof SagaError && error.code === 'replay_mismatch') {
    return `'${saga}' cannot go on: its code no longer does what it did when this call began.`;
  }
  return `'${saga}' failed.`;
}
