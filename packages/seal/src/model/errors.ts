/**
 * Errors of this package, and values that may be promises. An error has a code for programs and a
 * fixed text for people, and never a key, a token, or a value.
 */
/** Code of a {@link SealError}, stable across releases. */
export type SealErrorCode = 'keys' | 'arguments' | 'refused' | 'too_large' | 'unsupported';

/**
 * Base class of the errors of this package. Mistakes of authors are a `TypeError` or `RangeError`.
 */
export class SealError extends Error {
  override readonly name: string = 'SealError';
  readonly code: SealErrorCode;

  /** @param message - contains no token, key, or payload */
  constructor(code: SealErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Message of every {@link TokenRefused}. A client does not learn which check failed. */
export const refusalMessage: string = 'Invalid or expired sagaToken';

/** Reason of a refusal, for hooks, logs, and counters. Never send it to a client. */
export type RefusalReason =
  | 'malformed'
  | 'too_large'
  | 'unknown_key'
  | 'undecryptable'
  | 'purpose'
  | 'audience'
  | 'sid'
  | 'not_yet_valid'
  | 'expired'
  | 'revoked'
  | 'method'
  | 'target'
  | 'arguments'
  | 'principal'
  | 'engine'
  | 'forbidden'
  | 'used'
  | 'guard_restarted'
  | 'unknown_handle'
  | 'request';

/**
 * Refusal of a token that does not open or does not meet the expectations. The message is always
 * the same.
 */
export class TokenRefused extends SealError {
  override readonly name: string = 'TokenRefused';
  declare readonly code: 'refused';
  /** Reason, for hooks only. */
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super('refused', refusalMessage);
    this.reason = reason;
  }
}

/**
 * Part of a token over the limit: its characters, the bytes of all streams, or the number of
 * streams.
 */
export type OversizedPart = 'token' | 'inflated' | 'streams';

/** Error of a token over a limit. Nothing was sealed. */
export class TokenTooLarge extends SealError {
  override readonly name: string = 'TokenTooLarge';
  declare readonly code: 'too_large';
  readonly part: OversizedPart;
  /** Size of the part. */
  readonly bytes: number;
  readonly limit: number;

  constructor(part: OversizedPart, bytes: number, limit: number) {
    super(
      'too_large',
      `The state of the saga is too large for a token: ${part} ${bytes}, limit ${limit}`,
    );
    this.part = part;
    this.bytes = bytes;
    this.limit = limit;
  }
}
