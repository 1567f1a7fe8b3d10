/** Asks a person for the arguments of a tool that a call lacks. */
import type { FormField } from '@mcp-saga/client';
import { isRecord } from '@mcp-saga/core/program';
import type { Tool } from '@modelcontextprotocol/client';
import { fitted } from '../input/assignments.ts';
import type { CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { askForm, type FormContent } from '../terminal/form.ts';
import { forReading } from './for-reading.ts';

/** Returns the names of the arguments that a tool requires, and that are not given. */
export function missingArguments(
  { inputSchema: { required = [] } }: Tool,
  given: object,
): readonly string[] {
  return required.filter((name) => !Object.hasOwn(given, name));
}

/**
 * Asks for arguments in a form: a choice, a number, or a text by its schema, and everything else as
 * JSON. Notes them as options, so that the call can be repeated.
 *
 * @throws CliError `stopped` if the person leaves the form
 */
export async function askArguments(
  { name, inputSchema }: Tool,
  missing: readonly string[],
  io: CommandIo,
): Promise<Readonly<Record<string, unknown>>> {
  const schemas = missing.map((each) => [each, inputSchema.properties?.[each]] as const);
  const fields = schemas.map(([each, schema]) => [each, forReading(fieldOf(schema))] as const);
  const form = {
    type: 'object' as const,
    properties: Object.fromEntries(fields),
    required: [...missing],
  };
  io.note(`The tool '${name}' needs ${missing.join(', ')}.`);
  const content = await askForm(form, io).catch((error: unknown) => {
    // A call without its arguments has no question to decline.
    if (error instanceof CliError && error.code === 'question_left')
      throw new CliError('stopped', 'Stopped.');
    throw error;
  });
  io.note(`Given: ${Object.entries(content).map(asOption).join(' ')}`);
  return Object.fromEntries(
    schemas.map(([each, schema]) => [each, valueOf(content[each], schema)] as const),
  );
}

/** A typed value of another schema than that of a field is JSON, or a text. */
function valueOf(value: FormContent[string] | undefined, schema: unknown): unknown {
  return typeof value === 'string' && !isField(schema) ? fitted(schema, value) : value;
}

function asOption([name, value]: readonly [string, FormContent[string]]): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const option = `${name}=${text}`;
  return `--arg ${/^[\w=.:@/-]+$/.test(option) ? option : `'${option.replaceAll("'", `'\\''`)}'`}`;
}

/** Returns the field of a form for a JSON Schema. */
function fieldOf(schema: unknown): FormField {
  const { title, description, format, ...rest } = Object(schema) as Record<string, unknown>;
  const texts = {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
  if (!isField(schema))
    return {
      ...texts,
      type: 'string',
      description: [texts.description, 'JSON'].filter(Boolean).join(', '),
    };
  // A form checks only some formats, and the server checks all.
  const isChecked = ['email', 'uri', 'date', 'date-time'].includes(String(format));
  return { ...rest, ...texts, ...(isChecked ? { format } : {}) } as FormField;
}

/** `true` for a schema that MCP allows for a field of a form. */
function isField(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type, items } = schema;
  if (type === 'array') return isRecord(items) && isTexts(items['enum']);
  if (type === 'string') return schema['enum'] === undefined || isTexts(schema['enum']);
  return ['boolean', 'integer', 'number'].includes(String(type)) && schema['enum'] === undefined;
}

function isTexts(values: unknown): boolean {
  return Array.isArray(values) && values.every((each) => typeof each === 'string');
}
