import { isRecord } from '@mcp-saga/core/program';
import { CliError } from '../model/errors.ts';

/** Reads `name=value` options. Throws `usage` for an option without a name. */
export function readAssignments(option: string, given: readonly string[] = []): ReadonlyMap<string, unknown> {
  return new Map(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new CliError('usage', `--${option} ${text}: expected name=value.`);
      return [text.slice(0, at), toValue(text.slice(at + 1))];
    }),
  );
}

/** Reads an object of JSON. Throws `usage` for anything else. */
export function readObject(option: string, text: string): Readonly<Record<string, unknown>> {
  const value = toValue(text);
  if (!isRecord(value))
    throw new CliError('usage', `--${option}: expected an object in JSON, such as '{"amount":900}'.`);
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
