import { toJsonSchema, type Json, type Program, type Schema } from '@mcp-saga/core';
import { assertNotReserved } from './reserved-arguments.ts';

/**
 * Throws a `TypeError` unless a program's schemas can be listed: MCP wants objects, as JSON Schema, and a single tool
 * that has something else takes `tools/list` down for all of them.
 */
export function assertListable({ name, input, output }: Program): void {
  const listed = assertObject(name, input, 'input');
  if (listed !== undefined) assertNotReserved(name, listed);
  assertObject(name, output, 'output');
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
