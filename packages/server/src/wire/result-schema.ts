/**
 * The result schema of a tool, and the structured content of a call that ends before its saga.
 *
 * Clients check the structured content of each result by the schema that `tools/list` shows. So the
 * schema is a union: what the saga returns, or {@link UnfinishedContent}. The list is the same for
 * all clients.
 *
 * - A result that is no error always has structured content of this union.
 * - References stay true: the definitions of an author move to the root, and what refers to the
 *   root of the author's schema is rewritten.
 */
import type { Json, Program, Schema } from '@mcp-saga/core';
import { isJsonObject, toJsonSchema } from '@mcp-saga/core/program';

type JsonSchema = { readonly [key: string]: Json };

/**
 * Field whose constant tells an unfinished call from a result. Outputs must not declare it, so that
 * no result is taken for an unfinished call.
 */
export const unfinishedField = 'unfinishedCall';

/** Structured content of a call that ends before its saga. */
export interface UnfinishedContent {
  readonly unfinishedCall: true;
  /** The whole text of the result, because some clients show the model nothing else. */
  readonly text: string;
}

const unfinished: JsonSchema = {
  description: 'The call is not finished: text says how to continue it.',
  type: 'object',
  properties: { [unfinishedField]: { type: 'boolean', const: true }, text: { type: 'string' } },
  required: [unfinishedField, 'text'],
};

/** Returns the structured content of an unfinished call. `texts`: those of its result. */
export function unfinishedContent(texts: readonly string[]): { readonly [key: string]: unknown } {
  return { unfinishedCall: true, text: texts.join('\n\n') } satisfies UnfinishedContent;
}

/**
 * `true` if a call of the tool can end before its saga. A saga with `suspends: false` ends with its
 * call, unless an older version, which may ask and wait, is still served. A task ends with its
 * saga.
 */
export function mayEndUnfinished({ task, suspends, previous }: Program): boolean {
  if (task === 'require') return false;
  return suspends !== false || previous.some(({ saga }) => saga.suspends !== false);
}

const listed = new WeakMap<Program, JsonSchema>();

/**
 * Returns the result schema of a tool. Undefined for a saga without `output`. The results of older
 * versions are part of it: they end the calls that began with them.
 */
export function resultSchemaOf(saga: Program): JsonSchema | undefined {
  if (saga.output === undefined) return undefined;
  const known = listed.get(saga);
  if (known !== undefined) return known;
  const made = unionFor(saga);
  listed.set(saga, made);
  return made;
}

function unionFor(saga: Program): JsonSchema {
  const programs: readonly Pick<Program, 'output'>[] = [
    saga,
    ...saga.previous.map((older) => older.saga),
  ];
  const outputs = new Map(
    programs
      .flatMap(({ output }) => output ?? [])
      .map((output) => writtenOutput(output))
      .map((output) => [JSON.stringify(output), output]),
  );
  const parts = [...outputs.values(), ...(mayEndUnfinished(saga) ? [unfinished] : [])];
  const [only] = parts;
  // MCP demands the type also of a union.
  if (parts.length === 1 && only !== undefined) return { type: 'object', ...only };
  const definitions = new Map<string, Json>();
  const anyOf = parts.map((part) => addPart(part, definitions));
  if (definitions.size === 0) return { type: 'object', anyOf };
  return { type: 'object', anyOf, $defs: Object.fromEntries(definitions) };
}

/** Writes an output without `$id`: a validator refuses a second schema with the ID of a first one. */
function writtenOutput(output: Schema): JsonSchema {
  const { $id: id, ...written } = toJsonSchema(output, 'output');
  if (typeof id !== 'string') return written;
  const base = id.replace(/#$/, '');
  return withReferences(written, (reference) => {
    if (!reference.startsWith(base)) return reference;
    const rest = reference.slice(base.length);
    if (rest === '') return '#';
    return rest.startsWith('#') ? rest : reference;
  });
}

/**
 * Returns a schema as a part of a union, and adds its definitions to those of the union. Names that
 * other parts have taken get a number, and references follow.
 */
function addPart(part: JsonSchema, definitions: Map<string, Json>): Json {
  const { $defs, ...root } = part;
  const own = isJsonObject($defs) ? $defs : {};
  const nameOf = new Map(Object.keys(own).map((name) => [name, reserve(name, definitions)]));
  // Reserved at the first reference to the root, or into it.
  let rootName: string | undefined;
  const follow = (reference: string): string => {
    if (reference !== '#' && !reference.startsWith('#/')) return reference;
    const [, first = '', second = '', ...rest] = reference.split('/');
    const name = fromPointer(first) === '$defs' ? nameOf.get(fromPointer(second)) : undefined;
    if (name !== undefined) return ['#/$defs', toPointer(name), ...rest].join('/');
    rootName ??= reserve('Output', definitions);
    return `#/$defs/${toPointer(rootName)}${reference.slice(1)}`;
  };
  const rewritten = withReferences(root, follow);
  for (const [name, free] of nameOf)
    definitions.set(free, withReferences(own[name] as Json, follow));
  // `#` is the root of the union now, so a part that refers to its own root becomes a definition.
  if (rootName === undefined) return rewritten;
  definitions.set(rootName, rewritten);
  return { $ref: `#/$defs/${toPointer(rootName)}` };
}

/** Takes a name of a definition that is still free. */
function reserve(name: string, definitions: Map<string, Json>): string {
  const free = freeName(name, definitions);
  definitions.set(free, {});
  return free;
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}${count}`;
  return free;
}

/** Keywords whose values are data, which may look like a reference. */
const ofData: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Keywords whose values are schemas by a name of the author. */
const ofSchemas: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
]);

/** Rewrites the references of a schema. A part with an `$id` has references of its own. */
function withReferences<T extends Json>(schema: T, to: (reference: string) => string): T;
function withReferences(schema: Json, to: (reference: string) => string): Json {
  if (Array.isArray(schema)) return schema.map((part: Json) => withReferences(part, to));
  if (!isJsonObject(schema) || typeof schema['$id'] === 'string') return schema;
  return mapValues(schema, (value, key) => {
    if (ofData.has(key)) return value;
    if (key === '$ref' || key === '$dynamicRef')
      return typeof value === 'string' ? to(value) : value;
    return ofSchemas.has(key) && isJsonObject(value)
      ? mapValues(value, (part) => withReferences(part, to))
      : withReferences(value, to);
  });
}

function mapValues(object: JsonSchema, map: (value: Json, key: string) => Json): JsonSchema {
  // From entries: `__proto__` is a valid name.
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** Reads a part of a JSON pointer in a URI fragment. */
function fromPointer(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // Written without escapes.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function toPointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
