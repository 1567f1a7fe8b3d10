import { isRecord } from '@mcp-saga/core/program';
import { CliError } from '../model/errors.ts';

/**
 * Reads `name=value` options. Throws `usage` for an option without a name, and for a repeated name.
 */
export function readAssignments(
  option: string,
  given: readonly string[] = [],
): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const text of given) {
    const at = text.indexOf('=');
    const name = text.slice(0, at);
    if (at < 1) throw new CliError('usage', `--${option} ${text}: expected name=value.`);
    if (read.has(name)) throw new CliError('usage', `--${option} ${name}: given more than once.`);
    read.set(name, text.slice(at + 1));
  }
  return read;
}

/**
 * Reads a value in the type of its schema: `zip=1234` is a number in JSON, and a text for a schema
 * of texts.
 */
export function fitted(schema: unknown, text: string): unknown {
  const value = toValue(text);
  const types = typesOf(schema).map((type) => (type === 'integer' ? 'number' : type));
  const own = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return types.includes('string') && !types.includes(own) ? text : value;
}

/** Returns the types that a JSON Schema allows. */
function typesOf(schema: unknown): readonly unknown[] {
  const {
    type,
    enum: values = [],
    anyOf = [],
    oneOf = [],
  } = Object(schema) as Record<string, unknown>;
  const allowed = [values].flat().map((value) => typeof value);
  return [type, ...allowed, ...[anyOf, oneOf].flat().map(typesOf)].flat();
}

/** Reads an object of JSON. Throws `usage` for anything else. */
export function readObject(option: string, text: string): Readonly<Record<string, unknown>> {
  const value = toValue(text);
  if (!isRecord(value))
    throw new CliError(
      'usage',
      `--${option}: expected an object in JSON, such as '{"amount":900}'.`,
    );
  return value;
}

/** Reads JSON if it parses, otherwise the text. */
export function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
