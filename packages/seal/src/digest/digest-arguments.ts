import type { MaybePromise } from '../model/maybe-promise.ts';
import { canonicalizeExcept, isPlainObject } from './canonicalize.ts';
import { SealError } from '../model/errors.ts';
import { digestText } from './hash.ts';

const changing: ReadonlySet<string> = new Set(['resumeToken', 'answers']);

/**
 * Digests the arguments of a call, without the members `resumeToken` and `answers`: SHA-256 of
 * their canonical JSON, in base64url.
 * @throws SealError `arguments` unless the arguments are undefined or an object of JSON values
 * @example
 * ```ts
 * const first = await digestArguments({ city: 'Rome' });
 * const again = await digestArguments({ city: 'Rome', resumeToken: token });
 * console.log(first === again);
 * ```
 */
export function digestArguments(args: unknown): MaybePromise<string> {
  return digestText(canonicalizeArguments(args));
}

/** Returns the canonical JSON of {@link digestArguments}. Absent arguments equal `{}`. */
export function canonicalizeArguments(args: unknown): string {
  if (args === undefined) return '{}';
  if (!isPlainObject(args)) throw new SealError('arguments', 'The arguments are not an object');
  return canonicalizeExcept(args, changing);
}
