/** What kind of failure a {@link SealError} is; stable across releases. */
export type SealErrorCode = 'keys' | 'arguments' | 'refused' | 'too_large' | 'unsupported';

/** The base class of everything this package throws, but for a `TypeError` or `RangeError` at an author's mistake. */
export class SealError extends Error {
  override readonly name: string = 'SealError';
  /** What kind of failure this is. */
  readonly code: SealErrorCode;

  /** Never pass a token, a key or a payload in `message`. */
  constructor(code: SealErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The one sentence of every {@link TokenRefused}, so that a client learns nothing from which check failed. */
export const refusalMessage: string = 'Invalid or expired sagaToken';

/** Why a token was refused. For hooks, logs and counters only: no client may ever see it. */
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

/** A token that does not open, or opens and is not what was expected. The message is always the same. */
export class TokenRefused extends SealError {
  override readonly name: string = 'TokenRefused';
  declare readonly code: 'refused';
  /** The true reason; for hooks only. */
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super('refused', refusalMessage);
    this.reason = reason;
  }
}

/** What of a token grew over its limit. */
export type OversizedPart = 'token' | 'inflated' | 'streams';

/** A token that is over a limit when it is minted. Nothing was sealed. */
export class TokenTooLarge extends SealError {
  override readonly name: string = 'TokenTooLarge';
  declare readonly code: 'too_large';
  /** What is over the limit: the token's characters, the bytes of all streams, or the number of streams. */
  readonly part: OversizedPart;
  /** How large it would have been. */
  readonly bytes: number;
  /** The limit it is over. */
  readonly limit: number;

  constructor(part: OversizedPart, bytes: number, limit: number) {
    super('too_large', `The saga's state is too large for a token: ${part} ${bytes}, limit ${limit}`);
    this.part = part;
    this.bytes = bytes;
    this.limit = limit;
  }
}
