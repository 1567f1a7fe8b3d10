import { toJsonSchema, type Json, type Program, type Schema } from '@mcp-saga/core';
import { assertNotReserved } from './reserved-arguments.ts';

// As JSON Schema has texts: a choice of texts has no type of its own.
interface Property {
  readonly type?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

/**
 * Throws a `TypeError` unless a program's schemas can be listed: MCP wants objects, as JSON Schema, and a single tool
 * that has something else takes `tools/list` down for all of them.
 */
export function assertListable({ name, input, output, serves }: Program): void {
  const listed = assertObject(name, input, 'input');
  if (listed !== undefined) assertNotReserved(name, listed);
  assertObject(name, output, 'output');
  if (serves !== 'prompt' || listed === undefined) return;
  const { properties = {} } = listed as { readonly properties?: { readonly [name: string]: Property } };
  const other = Object.keys(properties).find((key) => !isText(properties[key] ?? {}));
  if (other === undefined) return;
  throw new TypeError(
    `Saga '${name}', input: '${other}' is no text, and MCP sends nothing else to a prompt. Make one into what you ` +
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
