import { AnswerConflict, ReplayMismatch, TurnAborted } from '@mcp-saga/core';
import { refusalMessage, TokenRefused } from '@mcp-saga/seal';
import { capabilitiesFor } from './step-requests.ts';
import { NeedsMissing, SagaHostError, type SagaHostErrorCode } from './errors.ts';

const invalidParams = -32602;
const internalError = -32603;
// MissingRequiredClientCapability of the spec 2026-07-28.
const missingCapability = -32021;

const notNow: ReadonlySet<SagaHostErrorCode> = new Set([
  'guard_down',
  'guard_full',
  'store_down',
  'busy',
  'not_admitted',
  'version_gone',
  'clock_behind',
]);

/** `true` if nothing is wrong with the request: the server cannot continue the saga now, and the token stays good. */
export function isNotNow(error: unknown): boolean {
  return error instanceof ReplayMismatch || (error instanceof SagaHostError && notNow.has(error.code));
}

// The message of the error names steps, and says what to do to the author of the code.
const mismatched = 'This call cannot continue now: the code of the server was changed. Send it again later.';

/** An error as it goes out: the SDKs send whatever carries a numeric `code`, with its `data`. */
export class WireError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    if (data !== undefined) this.data = data;
  }
}

/** How a dialect answers a token that does not open. */
export interface FrozenAnswer {
  readonly message: string;
  readonly reason: string;
}

/** The frozen answer of the saga methods. (T5) */
export const sagaTokenRefused: FrozenAnswer = { message: refusalMessage, reason: 'invalid_saga_token' };

/**
 * Converts an error of the host to JSON-RPC: -32602 for a mistake of the client, -32603 with `data.reason` if the server cannot
 * do it now; else only that something failed, reported to `onError`.
 */
export function toWireError(
  error: unknown,
  frozen: FrozenAnswer,
  onError: (error: unknown) => void,
): WireError {
  if (error instanceof WireError) return error;
  if (error instanceof TokenRefused)
    return new WireError(invalidParams, frozen.message, { reason: frozen.reason });
  if (error instanceof AnswerConflict)
    return new WireError(invalidParams, error.message, { stepId: error.stepId });
  if (error instanceof NeedsMissing) {
    return new WireError(missingCapability, error.message, {
      requiredCapabilities: capabilitiesFor(error.needs),
    });
  }
  if (error instanceof SagaHostError && error.public) {
    const code = isNotNow(error) ? internalError : invalidParams;
    return new WireError(code, error.message, { reason: error.code });
  }
  if (error instanceof ReplayMismatch)
    return new WireError(internalError, mismatched, { reason: error.code });
  if (error instanceof TurnAborted) return new WireError(internalError, 'The request was aborted.');
  onError(error);
  return new WireError(internalError, 'Internal error');
}
