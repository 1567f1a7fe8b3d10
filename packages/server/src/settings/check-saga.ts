import { type Json, type Program, type Schema } from '@mcp-saga/core';
import { toJsonSchema } from '@mcp-saga/core/program';

// As JSON Schema has texts: a choice of texts has no type of its own.
interface Property {
  readonly type?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

/** Throws a TypeError unless the schemas of a program are objects: one other schema breaks `tools/list` for all tools. */
export function assertListable({ name, input, output, serves }: Program): void {
  const listed = assertObject(name, input, 'input');
  if (listed !== undefined) assertNotReserved(name, listed);
  assertObject(name, output, 'output');
  if (serves !== 'prompt' || listed === undefined) return;
  const { properties = {} } = listed as { readonly properties?: { readonly [name: string]: Property } };
  const other = Object.keys(properties).find((key) => !isText(properties[key] ?? {}));
  if (other === undefined) return;
  throw new TypeError(
    `Saga '${name}', input: '${other}' is no text, and prompts get only text. Make it into what you ` +
      'need: z.string().transform(…).',
  );
}

function isText({ type, enum: choices, const: only, anyOf, oneOf }: Property): boolean {
  if (type !== undefined) return type === 'string';
  if (only !== undefined) return typeof only === 'string';
  if (choices !== undefined) return choices.every((choice) => typeof choice === 'string');
  return (anyOf ?? oneOf)?.every(isText) ?? false;
}

function assertObject(
  name: string,
  schema: Schema | undefined,
  direction: 'input' | 'output',
): { readonly [key: string]: Json } | undefined {
  if (schema === undefined) return undefined;
  let written: ReturnType<typeof toJsonSchema>;
  try {
    written = toJsonSchema(schema, direction);
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'its schema cannot be read';
    throw new TypeError(`Saga '${name}', ${direction}: ${problem}`, { cause: error });
  }
  // A union of objects has no type of its own.
  const isObject =
    written['type'] === 'object' || 'anyOf' in written || 'oneOf' in written || 'allOf' in written;
  if (!isObject) throw new TypeError(`Saga '${name}', ${direction}: wrap the schema in z.object({…}).`);
  return written;
}

type JsonSchema = { readonly [key: string]: unknown };

/** What every tool may be called with where calls go on by resume tokens; seal leaves them out of its digest as well. */
const reservedArguments = ['resumeToken', 'answers'] as const;

/** Throws a `TypeError` where a schema of arguments has a field of such a name: nobody could tell whose it is. (T14) */
function assertNotReserved(saga: string, schema: JsonSchema): void {
  const taken = reservedArguments.find((name) => hasField(schema, name, schema, new Set()));
  if (taken !== undefined) {
    throw new TypeError(
      `Saga '${saga}', input: the field '${taken}' has a name that is reserved: clients go on with a call by the ` +
        `arguments ${reservedArguments.join(' and ')}. Rename it.`,
    );
  }
}

function hasField(schema: JsonSchema, name: string, root: JsonSchema, seen: Set<JsonSchema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { properties } = schema;
  if (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)) return true;
  return partsOf(schema, root).some((part) => hasField(part, name, root, seen));
}

/** The schemas that hold for the same object. */
function partsOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as readonly JsonSchema[]);
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return parts;
  const definitions = (root['$defs'] ?? {}) as { readonly [name: string]: JsonSchema };
  const referred = reference === '#' ? root : definitions[reference.replace('#/$defs/', '')];
  return referred === undefined ? parts : [...parts, referred];
}
