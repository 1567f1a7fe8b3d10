import { AuthoringError } from './errors.ts';

/** A JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** A place inside a value: a key, and the place of the container. Rendered only for errors. */
export type Place = {
  readonly parent: Place | undefined;
  readonly key: string | number;
  /** Container, to find a cycle. */
  readonly of?: unknown;
};

/** Maximum nesting of objects and arrays in JSON from outside and in values inside a token. */
export const MAX_DEPTH = 64;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A value is not valid JSON for this library. The message names the path, never the value. */
export class InvalidJson extends AuthoringError {
  protected static override readonly className: string = 'InvalidJson';
  declare readonly code: 'invalid_json';
  /** Path of the offending value, such as `answers[0].result.content.x`. */
  readonly path: string;

  /** @param path place of the value  @param problem text without the value */
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`, { code: 'invalid_json' });
    this.name = 'InvalidJson';
    this.path = path;
  }
}

/**
 * Checks JSON from clients. Refuses own `__proto__` keys, nesting deeper than `maxDepth`,
 * non-finite numbers, lone surrogates in strings and keys, `undefined`, holes, and every object
 * other than a plain object or an array.
 * @param options.where - name of the value in errors, such as `answers`
 * @param options.maxDepth - maximum levels of objects and arrays, 64 by default
 * @throws InvalidJson naming the path
 */
export function assertJson(
  value: unknown,
  options: { readonly where: string; readonly maxDepth?: number },
): asserts value is Json {
  const maxDepth = options.maxDepth ?? MAX_DEPTH;
  if (isJson(value, Math.min(maxDepth, MAX_DEPTH))) return;
  const pending: Container[] = [];
  const look = (item: unknown, parent: Container | undefined, key: string | number): void => {
    const problem = leafProblem(item);
    if (problem === undefined) return;
    const place =
      parent === undefined ? undefined : { parent: parent.place, key, of: parent.value };
    if (problem !== CONTAINER) throw new InvalidJson(formatPlace(options.where, place), problem);
    const depth = (parent?.depth ?? 0) + 1;
    if (depth > maxDepth) {
      const [at, why] = depthProblem(item, place, maxDepth);
      throw new InvalidJson(formatPlace(options.where, at), why);
    }
    pending.push({ value: item, place, depth });
  };
  look(value, undefined, '');
  // A list instead of recursion: hostile nesting costs memory in proportion to the input, never the
  // stack.
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const container = next;
    if (Array.isArray(container.value)) {
      for (let index = 0; index < container.value.length; index++)
        look(container.value[index], container, index);
    } else {
      for (const [key, item] of Object.entries(Object(container.value))) {
        if (key === '__proto__' || hasLoneSurrogate(key)) {
          const at = formatPlace(options.where, { parent: container.place, key });
          throw new InvalidJson(
            at,
            key === '__proto__' ? 'is a forbidden key' : 'has a lone surrogate in its key',
          );
        }
        look(item, container, key);
      }
    }
  }
}

/**
 * `true` for JSON with at most `depth` levels. Only for other values, the slower walk names the
 * problem.
 */
export function isJson(value: unknown, depth: number = MAX_DEPTH): boolean {
  const problem = leafProblem(value);
  if (problem !== CONTAINER || depth === 0) return problem === undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (!isJson(value[index], depth - 1)) return false;
    return true;
  }
  for (const key of Object.keys(Object(value))) {
    if (key === '__proto__' || hasLoneSurrogate(key)) return false;
    if (!isJson((value as Record<string, unknown>)[key], depth - 1)) return false;
  }
  return true;
}

type Container = {
  readonly value: unknown;
  readonly place: Place | undefined;
  readonly depth: number;
};

const CONTAINER = 'container';

function hasLoneSurrogate(text: string): boolean {
  if (text.length > 32) return LONE_SURROGATE.test(text);
  // To call the regular expression takes longer than to look at a short text.
  for (let index = 0; index < text.length; index += 1)
    if ((text.charCodeAt(index) & 0xf800) === 0xd800) return LONE_SURROGATE.test(text);
  return false;
}

function leafProblem(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return hasLoneSurrogate(value) ? 'has a lone surrogate' : undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : 'is not a finite number';
    case 'boolean':
      return undefined;
    case 'object':
      if (value === null) return undefined;
      return Array.isArray(value) || isPlainObject(value) ? CONTAINER : 'is not a plain object';
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      return `is ${typeof value}, which JSON does not have`;
    default:
      return 'is not JSON';
  }
}

/** `true` for an object made by a literal, `JSON.parse`, or `Object.create(null)`, in any realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // Another realm's Object.prototype: the only prototype that owns `hasOwnProperty` and has no
  // prototype.
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), 'hasOwnProperty')
  );
}

/** Narrows JSON to objects, because `Array.isArray` alone does not narrow readonly arrays. */
export function isJsonObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return isRecord(value);
}

/** `true` for an object other than an array. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `true` for a list of strings. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Renders a place as a path: `answers[0].result.content.x`. Quotes odd keys and cuts long keys. */
export function formatPlace(where: string, place: Place | undefined): string {
  let text = '';
  for (let at = place; at !== undefined; at = at.parent) text = formatKey(at.key) + text;
  return where === '' && text.startsWith('.') ? text.slice(1) : where + text;
}

function formatKey(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  if (key.length <= 64 && IDENTIFIER.test(key)) return `.${key}`;
  return `[${JSON.stringify(key.length <= 64 ? key : `${key.slice(0, 64)}…`)}]`;
}

/**
 * Problem of a promise, generator, or command in place of a value, with advice. Undefined for any
 * other object.
 */
export function mistakenFor(value: object): string | undefined {
  if (Symbol.for('mcp-saga.command') in value)
    return 'is a command: yield it in the body of the saga, with yield*';
  if ('then' in value && typeof value.then === 'function') return 'is a promise: await it first';
  return 'next' in value && typeof value.next === 'function'
    ? 'is a generator: use a function or an async function'
    : undefined;
}

/** Place and problem of a value with too deep nesting. Names the start of a cycle. */
export function depthProblem(
  value: unknown,
  place: Place | undefined,
  maxDepth: number,
): readonly [at: Place | undefined, problem: string] {
  const inside = new Set([value]);
  let cycle: Place | undefined;
  // Hostile nesting may be deep. The last levels are enough to find a cycle.
  for (let at = place; at !== undefined && inside.size <= 2 * MAX_DEPTH; at = at.parent) {
    if (inside.has(at.of)) cycle = at;
    inside.add(at.of);
  }
  if (cycle === undefined) return [place, `is nested deeper than ${maxDepth} levels`];
  return [
    cycle.parent,
    'contains itself: a cycle cannot be stored. Return an ID instead of the object',
  ];
}

/** `true` if a value has more bytes than `limit`, as JSON in UTF-8. */
export function isLargerThan(limit: number, value: object | Json): boolean {
  const { least, most } = boundsOf(limit, value);
  if (least > limit || most <= limit) return least > limit;
  const text = JSON.stringify(value);
  return text.length > limit || new TextEncoder().encode(text).length > limit;
}

/**
 * `true` if the JSON of a value has more characters than `limit`, by a lower bound: strings and
 * keys count without escapes, other values as one character. Stops at the limit, also for a value
 * that contains itself.
 */
export function isClearlyLargerThan(limit: number, value: unknown): boolean {
  return boundsOf(limit, value).least > limit;
}

/** Bytes of a character in JSON, at most: escaped as \u0000. */
export const mostBytesOfCharacter = 6;
/** Bytes of the longest number in JSON: -1.2345678901234567e-100. */
export const mostBytesOfNumber = 24;

/**
 * Bounds of the JSON of a value: at least `least` characters, and at most `most` bytes. Stops once
 * `least` is over the limit.
 */
function boundsOf(
  limit: number,
  value: unknown,
): { readonly least: number; readonly most: number } {
  const pending: object[] = [];
  let least = 0;
  let most = 0;
  const add = (item: unknown): void => {
    if (typeof item === 'string') {
      least += item.length + 2;
      most += item.length * mostBytesOfCharacter + 2;
    } else if (typeof item === 'object' && item !== null) {
      pending.push(item);
    } else {
      least += 1;
      most += mostBytesOfNumber;
    }
  };
  add(value);
  for (let next = pending.pop(); next !== undefined && least <= limit; next = pending.pop()) {
    // Brackets and commas first: they may be over the limit by themselves.
    if (Array.isArray(next)) {
      least += Math.max(2, next.length + 1);
      most += next.length + 2;
      for (let index = 0; index < next.length; index += 1) {
        if (least > limit) break;
        add(next[index]);
      }
    } else {
      if ('toJSON' in next) most = Number.POSITIVE_INFINITY;
      least += 2;
      most += 2;
      for (const [key, member] of Object.entries(next)) {
        if (member === undefined) continue;
        least += key.length + 3;
        most += key.length * mostBytesOfCharacter + 4;
        if (least > limit) break;
        add(member);
      }
    }
  }
  return { least, most };
}

/** `true` if two values are the same JSON, in any order of keys. */
export function isSameJson(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null)
    return false;
  if (Array.isArray(value) !== Array.isArray(other)) return false;
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) =>
        Object.hasOwn(other, key) &&
        isSameJson(
          (value as Record<string, unknown>)[key],
          (other as Record<string, unknown>)[key],
        ),
    )
  );
}

/** Drops fields that are `undefined`. */
export function present<Fields extends object>(
  fields: Fields,
): { [name in keyof Fields]?: Exclude<Fields[name], undefined> } {
  const kept: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Fields;
}
