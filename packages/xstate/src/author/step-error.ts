import { ClientCannot, ElicitationRefused, StepError } from '@mcp-saga/core';

/**
 * Reason of a failed step. `declined`, `cancelled`: by the user. `invalid`: `parse` could not read the model's text. `client`:
 * the client answered with an error, or lacks the capability. `failed`: an effect failed.
 */
export type StepFailureReason = 'declined' | 'cancelled' | 'invalid' | 'client' | 'failed';

/** What went wrong in a step, as plain data: it may stand in the context, where an error may not. */
export interface StepFailure {
  /** The path of the step. */
  readonly stepId: string;
  readonly reason: StepFailureReason;
  readonly name: string;
  readonly message: string;
  readonly code: string | number;
}

/** The code of the error of an answer that `parse` could not read. */
export const invalidAnswer = 'invalid_answer';

/** Returns the failure of the step of an `onError` event, which XState types as unknown; undefined for other errors. */
export function stepError(event: object): StepFailure | undefined {
  const { error } = event as { readonly error?: unknown };
  if (
    !(error instanceof StepError) &&
    !(error instanceof ElicitationRefused) &&
    !(error instanceof ClientCannot)
  ) {
    return undefined;
  }
  const { stepId, name, message, code } = error;
  return { stepId, reason: reasonOf(error), name, message, code };
}

function reasonOf(error: StepError | ElicitationRefused | ClientCannot): StepFailureReason {
  if (error instanceof ElicitationRefused) return error.action === 'decline' ? 'declined' : 'cancelled';
  if (error instanceof ClientCannot || error.name === 'ClientError') return 'client';
  return error.code === invalidAnswer ? 'invalid' : 'failed';
}

/** What a guard gets; it looks at the event only. */
export interface GuardedEvent {
  readonly event: object;
}

/** Guard for `onError`: `true` if the user declined. */
export function isDeclined({ event }: GuardedEvent): boolean {
  return stepError(event)?.reason === 'declined';
}

/** Guard for `onError`: `true` if the user dismissed the question. */
export function isCancelled({ event }: GuardedEvent): boolean {
  return stepError(event)?.reason === 'cancelled';
}

/** Guard for `onError`: `true` if the user declined or dismissed the question. */
export function isRefused(guarded: GuardedEvent): boolean {
  return isDeclined(guarded) || isCancelled(guarded);
}

/** Guard for `onError`: `true` if `parse` could not read the model's answer. */
export function isInvalid({ event }: GuardedEvent): boolean {
  return stepError(event)?.reason === 'invalid';
}
