import { errorLink } from './errors.ts';

/** Cause of an error about options. Not a `SagaError`: such errors are found before a saga runs. */
export type OptionErrorCode = 'invalid_option' | 'unknown_option' | 'missing_option';

export interface OptionErrorDetails {
  /** Default: `invalid_option`. */
  readonly code?: OptionErrorCode;
  /** Default: `TypeError`. */
  readonly type?: TypeErrorConstructor | RangeErrorConstructor;
  readonly cause?: unknown;
}

/**
 * Makes the error for a wrong option or argument: a `TypeError` or `RangeError` with a code, and a
 * link to its documentation.
 */
export function optionError(
  message: string,
  { code = 'invalid_option', type = TypeError, ...options }: OptionErrorDetails = {},
): TypeError & { readonly code: OptionErrorCode } {
  return Object.assign(new type(`${message}\nSee ${errorLink(code)}`, options), { code });
}
