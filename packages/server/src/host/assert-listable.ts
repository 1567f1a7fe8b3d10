import { toJsonSchema, type Program, type Schema } from '@mcp-saga/core';

/**
 * Throws a `TypeError` unless a program's schemas can be listed: MCP wants objects, as JSON Schema, and a single tool
 * that has something else takes `tools/list` down for all of them.
 */
export function assertListable({ name, input, output }: Program): void {
  assertObject(name, input, 'input');
  assertObject(name, output, 'output');
}

function assertObject(name: string, schema: Schema | undefined, direction: 'input' | 'output'): void {
  if (schema === undefined) return;
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
}
