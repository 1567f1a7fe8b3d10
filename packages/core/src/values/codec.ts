/**
 * Values as JSON text, and back. The text is what a journal holds, so the same value gives the
 * same text in any process and any release. Text that comes back may be hostile: `decode` and
 * `revive` read what `encode` writes and nothing else, within a limit of depth.
 */
import { classNameOf } from './class-name.ts';
import { SagaError } from './errors.ts';
import {
  depthProblem,
  formatPlace,
  isPlainObject,
  MAX_DEPTH,
  mistakenFor,
  type Place,
} from './json.ts';

/** Key of a tag: `{"$":"u"}` is `undefined`. A plain object with only this key is escaped. */
const TAG = '$';

const MAX_BIGINT_DIGITS = 4096;

/**
 * Bits of the largest number with `MAX_BIGINT_DIGITS` digits, or more: bounds the work of writing
 * the digits.
 */
const MAX_BIGINT_BITS = 13_608;

/**
 * One level of a value has at most four levels of JSON (tag object, tag array, extras of an error,
 * value).
 */
const MAX_JSON_DEPTH = 4 * MAX_DEPTH;

const BIGINT = /^(?:0|-?[1-9]\d{0,4095})$/;

const ADVICE =
  'return plain data: JSON, undefined, bigint, Date, Map, Set, URL, Uint8Array or Error';

/**
 * A value that cannot be encoded, or foreign text. The message names the path and what to do, never
 * the value.
 */
export class CodecError extends SagaError {
  protected static override readonly className: string = 'CodecError';
  declare readonly code: 'unencodable' | 'undecodable';
  /**
   * Path of the offending value, such as `value.items[3]`; empty for text that cannot be decoded.
   */
  readonly path: string;

  constructor(code: 'unencodable' | 'undecodable', path: string, message: string) {
    super(message, { code, public: false });
    this.name = 'CodecError';
    this.path = path;
  }
}

/**
 * Writes a value as JSON text for {@link decode}: JSON, and `undefined`, NaN, infinities, -0,
 * BigInt (to 4,096 digits), Date, Map, Set, URL, Uint8Array (also for a Buffer), and Error. An
 * Error keeps `name`, `message`, `code`, `status`, `data`, and `cause`, never the stack or the
 * subclass. Holes of an array become `undefined`. Drops other properties of an array,
 * non-enumerable properties, and shared references.
 * @param options.where - name of the value in errors, `value` by default
 * @throws CodecError for functions, symbols, accessors, other class instances, cycles and nesting
 * deeper than 64
 */
export function encode(value: unknown, options: { readonly where?: string } = {}): string {
  return JSON.stringify(
    isPlainJson(value, 0) ? value : tag(value, undefined, 0, options.where ?? 'value'),
  );
}

/**
 * Reads authentic text of {@link encode}. Throws CodecError for an unknown tag, SyntaxError for
 * text other than JSON.
 */
export function decode(text: string): unknown {
  return revive(JSON.parse(text));
}

/**
 * Decodes a value of JSON.parse in place, without copies for plain JSON. Throws CodecError for an
 * unknown tag.
 */
export function revive(parsed: unknown): unknown {
  return typeof parsed === 'object' && parsed !== null ? reviveContainer(parsed, 0) : parsed;
}

/**
 * `true` if JSON.stringify keeps the value: most values need only this walk. `tag` rejects the
 * others.
 */
function isPlainJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || depth === MAX_DEPTH || 'toJSON' in value) return false;
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    for (let index = 0; index < value.length; index++) {
      if (!isPlainJson(value[index], depth + 1)) return false;
    }
    return true;
  }
  if (!isPlainObject(value) || Object.getOwnPropertySymbols(value).length > 0) return false;
  let keys = 0;
  let tagged = false;
  for (const key in value) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    // An enumerable key of a polluted prototype, invisible to JSON.stringify, too.
    if (property === undefined) continue;
    if (property.get !== undefined || property.set !== undefined) return false;
    if (!isPlainJson(property.value, depth + 1)) return false;
    keys++;
    if (key === TAG) tagged = true;
  }
  return !tagged || keys > 1;
}

/** Copies a value into JSON with tags. Throws with the path of a value that cannot be encoded. */
function tag(value: unknown, place: Place | undefined, depth: number, where: string): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return tagNumber(value);
  if (value === undefined) return { [TAG]: 'u' };
  if (typeof value === 'bigint') {
    const text = digits(value);
    if (text !== undefined) return { [TAG]: ['b', text] };
    throw unencodable(where, place, `is a bigint of more than ${MAX_BIGINT_DIGITS} digits`);
  }
  if (typeof value !== 'object') throw unencodable(where, place, `is a ${typeof value}: ${ADVICE}`);

  const isList = Array.isArray(value) && isPlainArray(value);
  const isPlain = isList || isPlainObject(value);
  const leaf = isPlain ? undefined : tagLeaf(value);
  if (leaf !== undefined) return leaf;
  if (depth >= MAX_DEPTH) throw unencodable(where, ...depthProblem(value, place, MAX_DEPTH));
  const child = (item: unknown, key: string | number): unknown =>
    tag(item, { parent: place, key, of: value }, depth + 1, where);
  const container = isPlain ? undefined : tagContainer(value, child);
  if (container !== undefined) return container;
  const problem = objectProblem(value, isPlain);
  if (problem !== undefined) throw unencodable(where, place, problem);
  // Array.from, because `map` skips holes.
  if (isList) return Array.from(value, child);

  const copy: Record<string, unknown> = {};
  const keys = Object.keys(value);
  for (const key of keys) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property?.get !== undefined || property?.set !== undefined) {
      throw unencodable(
        where,
        { parent: place, key },
        'is an accessor: return its value as plain data',
      );
    }
    defineOwn(copy, key, child(property?.value, key));
  }
  return keys.length === 1 && keys[0] === TAG ? { [TAG]: [TAG, copy[TAG]] } : copy;
}

function objectProblem(value: object, isPlain: boolean): string | undefined {
  const mistake = mistakenFor(value);
  if (mistake !== undefined) return mistake;
  if (!isPlain) return `is an instance of ${classNameOf(value) ?? 'a class'}: ${ADVICE}`;
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return `has a toJSON method: ${ADVICE}`;
  if (!Array.isArray(value) && Object.getOwnPropertySymbols(value).length > 0)
    return 'has a symbol as a key: use string keys';
  return undefined;
}

function tagNumber(value: number): unknown {
  if (Number.isFinite(value)) return Object.is(value, -0) ? { [TAG]: '0' } : value;
  if (Number.isNaN(value)) return { [TAG]: 'n' };
  return { [TAG]: value > 0 ? '+' : '-' };
}

function tagLeaf(value: object): unknown {
  if (value instanceof Date && Object.getPrototypeOf(value) === Date.prototype) {
    const time = value.getTime();
    return { [TAG]: ['d', Number.isNaN(time) ? null : time] };
  }
  if (value instanceof URL) return { [TAG]: ['l', value.href] };
  if (value instanceof Uint8Array) return { [TAG]: ['y', toBase64(value)] };
  return undefined;
}

function tagContainer(
  value: object,
  child: (item: unknown, key: string | number) => unknown,
): unknown {
  if (isError(value)) return { [TAG]: ['e', ...tagError(value, child)] };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (value instanceof Map && prototype === Map.prototype) {
    return {
      [TAG]: ['m', ...[...value].flatMap(([k, v], index) => [child(k, index), child(v, index)])],
    };
  }
  if (value instanceof Set && prototype === Set.prototype)
    return { [TAG]: ['s', ...[...value].map(child)] };
  return undefined;
}

function tagError(error: Error, child: (item: unknown, key: string) => unknown): unknown[] {
  const { name, message }: { readonly name: unknown; readonly message: unknown } = error;
  const extras: Record<string, unknown> = {};
  for (const key of errorFields) {
    const value: unknown = Reflect.get(error, key);
    // Responses and other objects have a `status`, too. Libraries set a number or a string.
    if (value !== undefined && (key !== 'status' || isScalar(value)))
      extras[key] = child(value, key);
  }
  // A name or message need not be a string at run time.
  return [String(name), String(message), ...(Object.keys(extras).length === 0 ? [] : [extras])];
}

function reviveContainer(container: object, depth: number): unknown {
  if (depth > MAX_JSON_DEPTH) throw undecodable('nested too deeply');
  if (Array.isArray(container)) {
    for (let index = 0; index < container.length; index++) {
      const item: unknown = container[index];
      if (typeof item !== 'object' || item === null) continue;
      const revived = reviveContainer(item, depth + 1);
      if (revived !== item) container[index] = revived;
    }
    return container;
  }
  if (!isPlainObject(container)) throw undecodable('not made by JSON.parse');
  for (const key in container) {
    const item = container[key];
    if (key === TAG && Object.hasOwn(container, TAG) && Object.keys(container).length === 1)
      return untag(item, depth + 1);
    if (typeof item !== 'object' || item === null || !Object.hasOwn(container, key)) continue;
    const revived = reviveContainer(item, depth + 1);
    if (revived !== item) defineOwn(container, key, revived);
  }
  return container;
}

function untag(body: unknown, depth: number): unknown {
  if (body === 'u') return undefined;
  if (body === 'n') return Number.NaN;
  if (body === '+') return Number.POSITIVE_INFINITY;
  if (body === '-') return Number.NEGATIVE_INFINITY;
  if (body === '0') return -0;
  if (!Array.isArray(body)) throw undecodable('an unknown tag');
  const [name, first]: readonly unknown[] = body;
  // The escape comes first: the content is data, even if similar to a tag.
  if (name === TAG) return { [TAG]: revivePart(first, depth) };
  if (name === 'd' && first === null) return new Date(Number.NaN);
  if (name === 'd' && typeof first === 'number') return new Date(first);
  if (name === 'b' && typeof first === 'string' && BIGINT.test(first)) return BigInt(first);
  if (name === 'l' && typeof first === 'string' && URL.canParse(first)) return new URL(first);
  if (name === 'y' && typeof first === 'string') return fromBase64(first);
  const items = body.slice(1).map((item: unknown) => revivePart(item, depth));
  if (name === 's') return new Set(items);
  if (name === 'e') return toError(items);
  if (name !== 'm') throw undecodable('an unknown tag');
  const map = new Map<unknown, unknown>();
  for (let index = 0; index < items.length; index += 2) map.set(items[index], items[index + 1]);
  return map;
}

function revivePart(item: unknown, depth: number): unknown {
  return typeof item === 'object' && item !== null ? reviveContainer(item, depth + 1) : item;
}

function toError([name, message, extras]: readonly unknown[]): Error {
  if (typeof name !== 'string' || typeof message !== 'string')
    throw undecodable('a malformed error');
  const error = new Error(message);
  const hidden = { configurable: true, writable: true, enumerable: false };
  if (name !== 'Error') Object.defineProperty(error, 'name', { ...hidden, value: name });
  // The stack of the decoder is unrelated to the error, and differs between replays.
  error.stack = `${name}: ${message}`;
  if (!isPlainObject(extras)) return error;
  for (const key of errorFields) {
    if (!Object.hasOwn(extras, key)) continue;
    Object.defineProperty(error, key, {
      ...hidden,
      enumerable: key !== 'cause',
      value: extras[key],
    });
  }
  return error;
}

/** Fields of an error that are kept beside its name and its message. */
const errorFields = ['code', 'status', 'data', 'cause'];

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function isError(value: object): value is Error {
  if (value instanceof Error) return true;
  // Another realm's error, but not an object with a fake toStringTag.
  return (
    !(Symbol.toStringTag in value) && Object.prototype.toString.call(value) === '[object Error]'
  );
}

function isPlainArray(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Another realm's Array.prototype is an array; the prototype of a subclass is not.
  return prototype === Array.prototype || Array.isArray(prototype);
}

function digits(value: bigint): string | undefined {
  if (BigInt.asIntN(MAX_BIGINT_BITS, value) !== value) return undefined;
  const text = value.toString();
  return text.length - (value < 0n ? 1 : 0) <= MAX_BIGINT_DIGITS ? text : undefined;
}

/** Defines an own property: assigning `__proto__` would change the prototype. */
function defineOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else
    Object.defineProperty(target, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces, because the arguments of a call are limited.
  for (let at = 0; at < bytes.length; at += 0x2000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x2000));
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    throw undecodable('malformed bytes');
  }
}

function unencodable(where: string, place: Place | undefined, problem: string): CodecError {
  const path = formatPlace(where, place);
  return new CodecError('unencodable', path, `${path} ${problem}`);
}

function undecodable(problem: string): CodecError {
  return new CodecError(
    'undecodable',
    '',
    `the encoded value holds ${problem}: it was not written by this codec`,
  );
}
