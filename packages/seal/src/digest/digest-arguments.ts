import type { MaybePromise } from '../model/maybe-promise.ts';
import { canonicalizeExcept, isPlainObject } from './canonicalize.ts';
import { SealError } from '../model/errors.ts';
import { digestText } from './hash.ts';

const changing: ReadonlySet<string> = new Set(['resumeToken', 'answers']);

/**
 * What the arguments of a call are bound to a token by: base64url SHA-256 over {@link canonicalizeArguments}.
 *
 * @throws SealError with code `arguments` for anything else than an object of JSON values; see `canonicalize`.
 */
export function digestArguments(args: unknown): MaybePromise<string> {
  return digestText(canonicalizeArguments(args));
}

/**
 * The canonical text of a call's arguments as received, less the top-level `resumeToken` and `answers`, which change
 * from turn to turn. Absent arguments equal `{}`.
 *
 * @throws SealError with code `arguments`; see {@link digestArguments}.
 */
export function canonicalizeArguments(args: unknown): string {
  if (args === undefined) return '{}';
  if (!isPlainObject(args)) throw new SealError('arguments', 'The arguments are not an object');
  return canonicalizeExcept(args, changing);
}
