import { SagaError, type ClientNeed, StepError } from '@mcp-saga/core';

/** Codes of `SagaHostError`. Stable: match the code, not the message. */
export type SagaHostErrorCode =
  | 'unknown_saga'
  | 'invalid_params'
  | 'forbidden'
  | 'rate_limited'
  | 'principal_missing'
  | 'tenant_missing'
  | 'version_gone'
  | 'replay_mismatch'
  | 'invalid_result'
  | 'token_too_large'
  | 'cancel_not_offered'
  | 'no_progress'
  | 'busy'
  | 'already_started'
  | 'guard_down'
  | 'guard_full'
  | 'store_down'
  | 'queue_down'
  | 'keys_down'
  | 'hook_timeout'
  | 'clock_behind'
  | 'client_cannot';

/**
 * Error of a host. The message names sagas, fields, and schema paths, never values. Clients see it
 * if `public` is `true`.
 */
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

/** Makes the error of a request with an invalid field. `problem` names the field, never a value. */
export function invalidField(problem: string): SagaHostError {
  return new SagaHostError('invalid_params', `Invalid params: ${problem}`);
}

/**
 * Error for a client without the capabilities that a saga declares in `needs`, if no other source
 * can answer. Nothing has run.
 */
export class NeedsMissing extends SagaHostError {
  declare readonly code: 'client_cannot';
  readonly needs: readonly ClientNeed[];

  /**
   * @param unasked - reason why the client cannot be asked. Default: it did not declare the
   * capability.
   */
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
 * Returns the message of a failed saga for its client: the message of a public `SagaError`, or a
 * general one with the step ID.
 * @example
 * ```ts
 * const turn = await host.resume(token);
 * if (turn.status === 'failed') console.log(publicMessageOf(turn.saga, turn.error));
 * ```
 */
export function publicMessageOf(saga: string, error: unknown): string {
  const otherwise = `'${saga}' failed.`;
  try {
    if (error instanceof SagaError && error.public) return error.message;
    if (error instanceof StepError) return `'${saga}' failed at step '${error.stepId}'.`;
    if (error instanceof SagaError && error.code === 'replay_mismatch') {
      return `'${saga}' cannot continue: the code of the saga has changed since the call began.`;
    }
    return otherwise;
  } catch {
    // A thrown value that cannot be read must not keep the saga from its end.
    return otherwise;
  }
}
