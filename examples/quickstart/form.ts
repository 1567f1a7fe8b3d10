import type { ElicitationResult, FormElicitation, FormField } from '@mcp-saga/client';
import { askField, type FieldValue } from './field.ts';
import type { Terminal } from './prompter.ts';

/** What a form asks for: the `requestedSchema` of an elicitation. */
export type FormSchema = FormElicitation['requestedSchema'];

/** A filled form, as the answer to an elicitation carries it. */
export type FormContent = NonNullable<ElicitationResult['content']>;

/**
 * Asks a person field by field. Fields that need no answer and got none are left out.
 *
 * @param filled what to begin with, in place of the defaults
 * @throws QuestionLeft, RunLeft
 */
export async function askForm(
  schema: FormSchema,
  terminal: Terminal,
  filled: FormContent = {},
): Promise<FormContent> {
  const content: Record<string, FieldValue> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const initial = filled[name] ?? field.default;
    const value = await askField(
      labelled(name, field),
      { required: isRequired(schema, name), initial },
      terminal,
    );
    if (value !== undefined) content[name] = value;
  }
  return content;
}

/** The filled form for reading, a line for each field. */
export function showForm(schema: FormSchema, content: FormContent): string {
  return Object.entries(schema.properties)
    .map(([name, field]) => `${labelled(name, field).title}: ${showValue(content[name])}`)
    .join('\n');
}

function labelled(name: string, field: FormField): FormField & { title: string } {
  return { ...field, title: field.title ?? name };
}

function isRequired(schema: FormSchema, name: string): boolean {
  return schema.required?.includes(name) === true;
}

function showValue(value: FormContent[string] | undefined): string {
  if (value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? value.join(', ') : String(value);
}
