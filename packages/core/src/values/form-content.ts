import { toForm } from './form.ts';
import type { Json } from './json.ts';
import { validate, type Schema, type Validated } from './standard-schema.ts';

type Content = { readonly [field: string]: Json };

/**
 * Parses the content of a form by its schema, wherever the content comes from: a client, a model, a
 * fallback, or an answer page.
 *
 * Forms on the web and some clients send an empty string for a field that the user left empty. An
 * optional field that is blank therefore counts as absent if the schema refuses the blank value. A
 * schema that accepts an empty string gets it.
 */
export async function parseContent(schema: Schema, content: Content): Promise<Validated<unknown>> {
  const { properties, required = [] } = toForm(schema);
  const isOptional = (name: string): boolean =>
    Object.hasOwn(properties, name) && !required.includes(name);
  let given = content;
  for (;;) {
    const parsed = await validate(schema, given);
    if (parsed.ok) return parsed;
    const current = given;
    // Only the refused fields: a schema may accept the empty string of another field.
    const absent = new Set(
      parsed.fields.filter(
        (name) => isOptional(name) && Object.hasOwn(current, name) && isBlank(current[name]),
      ),
    );
    if (absent.size === 0) return parsed;
    // Each round drops a field, so the loop ends.
    given = Object.fromEntries(Object.entries(current).filter(([name]) => !absent.has(name)));
  }
}

/** `true` for the value of a field that was left empty. */
export function isBlank(value: Json | undefined): boolean {
  return value === '' || value === null || (Array.isArray(value) && value.length === 0);
}
