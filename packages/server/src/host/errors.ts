import type { ClientNeed } from '@mcp-saga/core';

/** Why a host refused something. Stable: match on it, not on messages. */
export type SagaHostErrorCode =
  | 'unknown_saga'
  | 'invalid_params'
  | 'forbidden'
  | 'not_admitted'
  | 'principal_missing'
  | 'version_gone'
  | 'invalid_result'
  | 'token_too_large'
  | 'cancel_not_offered'
  | 'busy'
  | 'guard_down'
  | 'client_cannot';

/**
 * What a host refuses, or cannot do. Its message names sagas, fields and schema paths, never values, and may go to
 * the client where `public` says so.
 */
export class SagaHostError extends Error {
  readonly code: SagaHostErrorCode;
  /** Whether the message may go to the client. */
  readonly public: boolean;

  constructor(
    code: SagaHostErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly public?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SagaHostError';
    this.code = code;
    this.public = options.public ?? true;
  }
}

/** The client lacks what a saga declares that it needs, and nothing stands in for it. Nothing has run. (W3) */
export class NeedsMissing extends SagaHostError {
  declare readonly code: 'client_cannot';
  readonly needs: readonly ClientNeed[];

  /** @param unasked - why the client cannot be asked, where there is more to say */
  constructor(saga: string, needs: readonly ClientNeed[], unasked?: string) {
    const lacks = `'${saga}' needs ${needs.join(' and ')}, which the client did not declare for this call.`;
    super('client_cannot', unasked === undefined ? lacks : `${lacks} ${unasked}`);
    this.name = 'NeedsMissing';
    this.needs = needs;
  }
}
