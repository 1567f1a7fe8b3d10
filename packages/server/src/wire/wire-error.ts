import { AnswerConflict, ReplayMismatch, TurnAborted } from '@mcp-saga/core';
import { refusalMessage, TokenRefused } from '@mcp-saga/seal';
import { capabilitiesFor } from './step-requests.ts';
import { NeedsMissing, SagaHostError, type SagaHostErrorCode } from './errors.ts';

const invalidParams = -32602;
const internalError = -32603;
// MissingRequiredClientCapability of MCP 2026-07-28.
const missingCapability = -32021;

const notNow: ReadonlySet<SagaHostErrorCode> = new Set([
  'guard_down',
  'guard_full',
  'store_down',
  'queue_down',
  'keys_down',
  'busy',
  'rate_limited',
  'version_gone',
  'clock_behind',
]);

/**
 * `true` if a request is valid, but the server cannot continue the saga now. The token stays valid.
 */
export function isNotNow(error: unknown): boolean {
  return (
    error instanceof ReplayMismatch || (error instanceof SagaHostError && notNow.has(error.code))
  );
}

// The message of the error is for the author, and names steps.
const mismatched =
  'The call cannot continue now: the code of the server has changed. Send the request again later.';

/** Error on the wire. The SDKs send any error with a numeric `code`, and its `data`. */
export class WireError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    if (data !== undefined) this.data = data;
  }
}

/** Response of a dialect to any rejected token. */
export interface FrozenAnswer {
  readonly message: string;
  readonly reason: string;
}

/** Fixed response of the saga methods to rejected tokens. */
export const sagaTokenRefused: FrozenAnswer = {
  message: refusalMessage,
  reason: 'invalid_saga_token',
};

/** Makes the error of a rejected token, with the fixed response of its dialect. */
export function frozenError({ message, reason }: FrozenAnswer): WireError {
  return new WireError(invalidParams, message, { reason });
}

/**
 * Converts an error of the host to JSON-RPC: -32602 for a mistake of the client, -32603 with
 * `data.reason` if the server cannot continue now. Other errors become `Internal error`, and go to
 * `onError`.
 */
export function toWireError(
  error: unknown,
  frozen: FrozenAnswer,
  onError: (error: unknown) => void,
): WireError {
  if (error instanceof WireError) return error;
  if (error instanceof TokenRefused) return frozenError(frozen);
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
