import { SealError } from '../model/errors.ts';

/** Options of {@link canonicalize}. */
export interface CanonicalizeOptions {
  /** How deep arrays and objects may nest; a scalar is 0 deep, `[]` is 1. Default 64. */
  readonly maxDepth?: number;
}

/**
 * The one text of a JSON value, whatever the order its members came in (JSON Canonicalization Scheme, RFC 8785):
 * members sorted by UTF-16 code units, numbers as ECMAScript writes them, no white space. A member whose value is
 * `undefined` is absent, as it would be on the wire.
 *
 * @throws SealError with code `arguments` for what JSON cannot hold (a number that is not finite, a lone surrogate, a
 * bigint, a date, a function, a hole), for an own `__proto__` member, and for nesting past `maxDepth`.
 */
export function canonicalize(value: unknown, options: CanonicalizeOptions = {}): string {
  return write(value, options.maxDepth ?? 64);
}

/** The same for an object less some of its own top-level members, which are not looked at. */
export function canonicalizeExcept(
  value: Readonly<Record<string, unknown>>,
  except: ReadonlySet<string>,
  maxDepth: number = 64,
): string {
  return writeObject(value, maxDepth, except);
}

/** Whether a value is an object as JSON has them, from this realm or another; not an array, a date or a map. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Whether a text has half of a surrogate pair, which UTF-8 cannot hold. */
export function hasLoneSurrogate(text: string): boolean {
  // The first test is the cheap one and settles almost every text.
  return /[\ud800-\udfff]/.test(text) && /\p{Surrogate}/u.test(text);
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      if (!Number.isFinite(value)) throw refuse('a number that is not finite');
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return writeArray(value, depth);
      if (isPlainObject(value)) return writeObject(value, depth);
      throw refuse('an object that is not plain');
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      break;
  }
  throw refuse(`a value of type ${typeof value}`);
}

// No quote, no backslash, no control character, no half of a pair: JSON.stringify would add quotes and nothing else.
const plainText = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/;

function writeString(text: string): string {
  if (plainText.test(text)) return `"${text}"`;
  if (hasLoneSurrogate(text)) throw refuse('a lone surrogate');
  return JSON.stringify(text);
}

function writeArray(values: readonly unknown[], depth: number): string {
  if (depth < 1) throw refuse('too deep nesting');
  let text = '[';
  // By index, so that a hole is met as undefined and refused.
  for (let index = 0; index < values.length; index += 1) {
    text += (index === 0 ? '' : ',') + write(values[index], depth - 1);
  }
  return `${text}]`;
}

function writeObject(
  members: Readonly<Record<string, unknown>>,
  depth: number,
  except?: ReadonlySet<string>,
): string {
  if (depth < 1) throw refuse('too deep nesting');
  let text = '';
  for (const name of Object.keys(members).toSorted()) {
    if (name === '__proto__') throw refuse('a member named __proto__');
    if (except?.has(name) === true) continue;
    const value = members[name];
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${writeString(name)}:${write(value, depth - 1)}`;
  }
  return `{${text}}`;
}

function refuse(what: string): SealError {
  return new SealError('arguments', `The arguments hold ${what}`);
}
