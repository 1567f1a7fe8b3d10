import { errorLink } from './errors.ts';
import { describeUnknownOption } from './unknown-option.ts';

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

/**
 * Throws TypeError `unknown_option` for the first option without a name in `names`.
 * @param of - function or object that has the options, for the error
 */
export function rejectUnknownOption(of: string, options: object, names: object): void {
  const problem = describeUnknownOption(() => of, options, names);
  if (problem !== undefined) throw optionError(problem, { code: 'unknown_option' });
}
