import { AuthoringError } from './errors.ts';

/** What JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A place inside a value: the key under which it sits, and where its container sits. Rendered only for errors. */
export type Place = {
  readonly parent: Place | undefined;
  readonly key: string | number;
  /** The container, where a cycle is to be found. */
  readonly of?: unknown;
};

/** The nesting that JSON from outside, and values inside a token, may have (objects and arrays counted). */
export const MAX_DEPTH = 64;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What a client sent is not the JSON this library accepts. The message names the path, never the value. */
export class InvalidJson extends AuthoringError {
  declare readonly code: 'invalid_json';
  /** Where the offending value sits, such as `answers[0].result.content.x`. */
  readonly path: string;

  /** @param path where the value sits  @param problem what is wrong with it, without the value */
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`, { code: 'invalid_json' });
    this.name = 'InvalidJson';
    this.path = path;
  }
}

/**
 * The check at the door for what clients send: refuses own `__proto__` keys, nesting deeper than `maxDepth`,
 * numbers that are not finite, lone surrogates in strings and keys, `undefined`, holes, and every object that is not a
 * plain object or an array.
 *
 * @param options.where how the value is called in errors, such as `answers`
 * @param options.maxDepth levels of objects and arrays allowed, 64 unless told
 * @throws InvalidJson naming the path
 */
export function assertJson(
  value: unknown,
  options: { readonly where: string; readonly maxDepth?: number },
): asserts value is Json {
  const maxDepth = options.maxDepth ?? MAX_DEPTH;
  const pending: Container[] = [];
  const look = (item: unknown, parent: Container | undefined, key: string | number): void => {
    const problem = leafProblem(item);
    if (problem === undefined) return;
    const place = parent === undefined ? undefined : { parent: parent.place, key, of: parent.value };
    if (problem !== CONTAINER) throw new InvalidJson(formatPlace(options.where, place), problem);
    const depth = (parent?.depth ?? 0) + 1;
    if (depth > maxDepth) {
      const [at, why] = depthProblem(item, place, maxDepth);
      throw new InvalidJson(formatPlace(options.where, at), why);
    }
    pending.push({ value: item, place, depth });
  };
  look(value, undefined, '');
  // A list instead of recursion: hostile nesting costs memory in proportion to what was sent, never the stack.
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const container = next;
    if (Array.isArray(container.value)) {
      for (let index = 0; index < container.value.length; index++)
        look(container.value[index], container, index);
    } else {
      for (const [key, item] of Object.entries(Object(container.value))) {
        if (key === '__proto__' || LONE_SURROGATE.test(key)) {
          const at = formatPlace(options.where, { parent: container.place, key });
          throw new InvalidJson(
            at,
            key === '__proto__' ? 'is a key that is refused' : 'has a lone surrogate in its key',
          );
        }
        look(item, container, key);
      }
    }
  }
}

type Container = { readonly value: unknown; readonly place: Place | undefined; readonly depth: number };

const CONTAINER = 'container';

function leafProblem(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return LONE_SURROGATE.test(value) ? 'has a lone surrogate' : undefined;
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

/** Whether `value` is an object made by a literal, `JSON.parse` or `Object.create(null)`, in any realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // Another realm's Object.prototype: the only prototype without one of its own that owns `hasOwnProperty`.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), 'hasOwnProperty');
}

/** Narrows JSON to its objects, which `Array.isArray` alone does not do for readonly arrays. */
export function isJsonObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return isRecord(value);
}

/** `true` for an object that is no array. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Renders a place as a path: `answers[0].result.content.x`. Odd keys are quoted, long ones cut. */
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

/** What an object is that stands for a value to come, and what to do. Undefined for any other object. */
export function mistakenFor(value: object): string | undefined {
  if ('then' in value && typeof value.then === 'function') return 'is a promise: await it first';
  if ('next' in value && typeof value.next === 'function')
    return 'is a generator: use a function or an async function';
  return Symbol.for('mcp-saga.command') in value
    ? 'is a command: yield it in the body of the saga, with yield*'
    : undefined;
}

/** The place and the problem of a value that is nested too deep: a cycle is named where it begins. */
export function depthProblem(
  value: unknown,
  place: Place | undefined,
  maxDepth: number,
): readonly [at: Place | undefined, problem: string] {
  const inside = new Set([value]);
  let cycle: Place | undefined;
  // Hostile nesting may be deep. The last levels are enough for a cycle.
  for (let at = place; at !== undefined && inside.size <= 2 * MAX_DEPTH; at = at.parent) {
    if (inside.has(at.of)) cycle = at;
    inside.add(at.of);
  }
  if (cycle === undefined) return [place, `is nested deeper than ${maxDepth} levels`];
  return [cycle.parent, 'contains itself: a cycle cannot be kept. Return an ID in place of the object'];
}

/** Whether a value has more bytes than `limit`, as JSON in UTF-8. */
export function isLargerThan(limit: number, value: object | Json): boolean {
  const text = JSON.stringify(value);
  // A character is one to three bytes, and a pair of surrogates four.
  if (text.length > limit) return true;
  return text.length * 3 > limit && new TextEncoder().encode(text).length > limit;
}

/** Whether a value is the same JSON as another, whatever the order of keys. */
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
        isSameJson((value as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
    )
  );
}

/** Returns the fields that have a value: a field that is absent must not be there as `undefined`. */
export function present<Fields extends object>(
  fields: Fields,
): { [name in keyof Fields]?: Exclude<Fields[name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
