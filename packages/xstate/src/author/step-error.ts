import { ClientCannot, ElicitationRefused, StepError, StepTimedOut } from '@mcp-saga/core';

/**
 * Reason of a failed step. `declined`, `cancelled`: by the user. `invalid`: `parse` threw.
 * `client`: the client answered with an error, or lacks the capability. `timeout`: no event arrived
 * in time. `failed`: an effect failed.
 */
export type StepFailureReason =
  | 'declined'
  | 'cancelled'
  | 'invalid'
  | 'client'
  | 'timeout'
  | 'failed';

/** Failure of a step as plain data, which the context may contain. */
export interface StepFailure {
  /** Path of the step. */
  readonly stepId: string;
  readonly reason: StepFailureReason;
  readonly name: string;
  readonly message: string;
  readonly code: string | number;
}

/** Code of the error if `parse` throws. */
export const invalidAnswer = 'invalid_answer';

/**
 * Returns the failure of a step from an `onError` event, or undefined for other errors. XState
 * types `event.error` as unknown.
 * @example
 * ```ts
 * import { assign } from 'xstate';
 *
 * const keepReason = assign({ reason: ({ event }) => stepError(event)?.reason });
 * ```
 */
export function stepError(event: object): StepFailure | undefined {
  const { error } = event as { readonly error?: unknown };
  if (
    !(error instanceof StepError) &&
    !(error instanceof ElicitationRefused) &&
    !(error instanceof ClientCannot) &&
    !(error instanceof StepTimedOut)
  ) {
    return undefined;
  }
  const { stepId, name, message, code } = error;
  return { stepId, reason: reasonOf(error), name, message, code };
}

function reasonOf(
  error: StepError | ElicitationRefused | ClientCannot | StepTimedOut,
): StepFailureReason {
  if (error instanceof StepTimedOut) return 'timeout';
  if (error instanceof ElicitationRefused)
    return error.action === 'decline' ? 'declined' : 'cancelled';
  if (error instanceof ClientCannot || error.name === 'ClientError') return 'client';
  return error.code === invalidAnswer ? 'invalid' : 'failed';
}

/** Argument of a guard. */
export interface GuardedEvent {
  readonly event: object;
}

/**
 * Guard for `onError`: `true` if the user declined.
 * @example
 * ```ts
 * import { setup } from 'xstate';
 *
 * const { createMachine } = setup({ guards: { isDeclined } });
 * ```
 */
export function isDeclined({ event }: GuardedEvent): boolean {
  return stepError(event)?.reason === 'declined';
}

/**
 * Guard for `onError`: `true` if the user dismissed the question.
 * @example
 * ```ts
 * const onError = [
 *   { guard: isCancelled, target: 'asking' },
 *   { target: 'failed' },
 * ];
 * ```
 */
export function isCancelled({ event }: GuardedEvent): boolean {
  return stepError(event)?.reason === 'cancelled';
}

/**
 * Guard for `onError`: `true` if the user declined or dismissed the question.
 * @example
 * ```ts
 * const onError = [
 *   { guard: isRefused, target: 'refused' },
 *   { target: 'failed' },
 * ];
 * ```
 */
export function isRefused(guarded: GuardedEvent): boolean {
  return isDeclined(guarded) || isCancelled(guarded);
}

/**
 * Guard for `onError`: `true` if `parse` threw.
 * @example
 * ```ts
 * const onError = [
 *   { guard: isInvalid, target: 'asking' },
 *   { target: 'failed' },
 * ];
 * ```
 */
export function isInvalid({ event }: GuardedEvent): boolean {
  return stepError(event)?.reason === 'invalid';
}
