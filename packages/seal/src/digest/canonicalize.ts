import { SealError } from '../model/errors.ts';

/** Options of {@link canonicalize}. */
export interface CanonicalizeOptions {
  /** Maximum nesting of arrays and objects: 0 for a scalar, 1 for `[]`. @default 64 */
  readonly maxDepth?: number;
}

/**
 * Returns the canonical JSON of a value (RFC 8785), with sorted members. Omits members with the
 * value `undefined`.
 * @throws SealError `arguments` for a value that JSON cannot hold, a member named `__proto__`, or
 * nesting beyond `maxDepth`
 * @example
 * ```ts
 * const one = canonicalize({ b: 1, a: [true] });
 * const other = canonicalize({ a: [true], b: 1 });
 * console.log(one === other);
 * ```
 */
export function canonicalize(value: unknown, options: CanonicalizeOptions = {}): string {
  return write(value, options.maxDepth ?? 64);
}

/** Returns the canonical JSON of an object without some top-level members. */
export function canonicalizeExcept(
  value: Readonly<Record<string, unknown>>,
  except: ReadonlySet<string>,
  maxDepth: number = 64,
): string {
  return writeObject(value, maxDepth, except);
}

/** `true` for a plain object of any realm. `false` for an array, a date, or a map. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    prototype === Object.prototype ||
    Object.getPrototypeOf(prototype) === null
  );
}

/** `true` if a text contains a lone surrogate, which UTF-8 cannot encode. */
export function hasLoneSurrogate(text: string): boolean {
  // The first test is cheap, and decides for almost every text.
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

// JSON.stringify would only add quotes to these texts.
const plainText = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/;

function writeString(text: string): string {
  if (plainText.test(text)) return `"${text}"`;
  if (hasLoneSurrogate(text)) throw refuse('a lone surrogate');
  return JSON.stringify(text);
}

function writeArray(values: readonly unknown[], depth: number): string {
  if (depth < 1) throw refuse('too deep nesting');
  let text = '[';
  // By index: a hole is refused as undefined.
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
