import { SagaError, type ClientNeed, StepError } from '@mcp-saga/core';

/** Why a host refused something. Stable: match on it, not on messages. */
export type SagaHostErrorCode =
  | 'unknown_saga'
  | 'invalid_params'
  | 'forbidden'
  | 'not_admitted'
  | 'principal_missing'
  | 'version_gone'
  | 'replay_mismatch'
  | 'invalid_result'
  | 'token_too_large'
  | 'cancel_not_offered'
  | 'not_ended'
  | 'no_progress'
  | 'busy'
  | 'guard_down'
  | 'guard_full'
  | 'store_down'
  | 'hook_timeout'
  | 'clock_behind'
  | 'client_cannot';

/** Error of a host. The message names sagas, fields, and schema paths, never values; clients read it if `public` is `true`. */
export class SagaHostError extends SagaError {
  declare readonly code: SagaHostErrorCode;

  constructor(
    code: SagaHostErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly public?: boolean } = {},
  ) {
    super(message, { ...options, code });
    this.name = 'SagaHostError';
  }
}

/** The client lacks what a saga declares that it needs, and nothing stands in for it. Nothing has run. (W3) */
export class NeedsMissing extends SagaHostError {
  declare readonly code: 'client_cannot';
  readonly needs: readonly ClientNeed[];

  /** @param unasked - why the client cannot be asked. Default: it did not declare the capability. */
  constructor(saga: string, needs: readonly ClientNeed[], unasked?: string) {
    const why =
      unasked === undefined
        ? 'which the client did not declare for this call.'
        : `and cannot ask: ${unasked}`;
    super('client_cannot', `'${saga}' needs ${needs.join(' and ')}, ${why}`);
    this.name = 'NeedsMissing';
    this.needs = needs;
  }
}

/**
 * A saga that its client abandoned is past its pivot, and waits or runs longer than one request may. Nothing is wrong or undone.
 * It continues when this cancel token, or the newer one of `onSuspended`, is delivered again.
 */
export class NotEnded extends SagaHostError {
  declare readonly code: 'not_ended';
  /** When to deliver it again at the earliest, in milliseconds from now: sooner, nothing runs. */
  readonly retryAfterMs: number;

  constructor(saga: string, retryAfterMs: number) {
    super('not_ended', `'${saga}' goes on past its pivot, and has not ended yet. Deliver the message again.`);
    this.name = 'NotEnded';
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns the message of a failure for the client: the author's (`SagaError`), or a general one with IDs of steps. */
export function publicMessageOf(saga: string, error: unknown): string {
  if (error instanceof SagaError && error.public) return error.message;
  if (error instanceof StepError) return `'${saga}' failed at step '${error.stepId}'.`;
  if (error instanceof SagaError && error.code === 'replay_mismatch') {
    return `'${saga}' cannot go on: its code no longer does what it did when this call began.`;
  }
  return `'${saga}' failed.`;
}
