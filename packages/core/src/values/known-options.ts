import { AuthoringError } from './errors.ts';
import { describeUnknownOption } from './unknown-option.ts';

/**
 * Rejects an unknown option, which would be ignored silently. `of`: function that takes the
 * options. `id`: first argument. Throws AuthoringError with the unknown option, the nearest name,
 * and all names.
 */
export function assertKnownOptions(of: string, id: unknown, options: object, names: object): void {
  // For errors only: replay calls this function for each step.
  const called = (): string => `${of}(${typeof id === 'string' ? `'${id.slice(0, 80)}'` : ''})`;
  if (typeof options !== 'object' || options === null)
    throw new AuthoringError(`${called()} takes its options as an object.`);
  const problem = describeUnknownOption(called, options, names);
  if (problem !== undefined) throw new AuthoringError(problem, { anchor: 'unknown_option' });
}

/**
 * Throws AuthoringError unless a value is undefined or in a list. `of` names the option and its
 * owner.
 */
export function assertOneOf(of: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  const list = values.map((one) => `'${one}'`).join(' or ');
  throw new AuthoringError(`${of} must be ${list}, or undefined.`);
}
