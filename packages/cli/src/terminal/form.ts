import { textForPeople } from '@mcp-saga/core/shared';
import type { ElicitationResult, FormElicitation, FormField } from '@mcp-saga/client';
import { askField, type FieldValue } from './field.ts';
import type { Terminal } from './prompter.ts';

/** Content of a filled form, for the answer to an elicitation. */
export type FormContent = NonNullable<ElicitationResult['content']>;

/**
 * Asks field by field, and fills `content`, which has the initial values. Throws `question_left`,
 * or RunLeft.
 */
export async function askForm(
  schema: FormElicitation['requestedSchema'],
  terminal: Terminal,
  content: Record<string, FieldValue> = {},
): Promise<FormContent> {
  for (const [name, field] of Object.entries(schema.properties)) {
    const initial = content[name] ?? field.default;
    const required = schema.required?.includes(name) === true;
    const value = await askField(labelled(name, field), { terminal, required, initial });
    if (value === undefined) delete content[name];
    else content[name] = value;
  }
  return content;
}

/** Shows a filled form, one line for each field. */
export function showForm(schema: FormElicitation['requestedSchema'], content: FormContent): string {
  return Object.entries(schema.properties)
    .map(([name, field]) => `${labelled(name, field).title}: ${showValue(content[name])}`)
    .join('\n');
}

function labelled(name: string, field: FormField): FormField & { title: string } {
  return { ...field, title: textForPeople(field.title ?? name) };
}

function showValue(value: FormContent[string] | undefined): string {
  if (value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return textForPeople(typeof value === 'object' ? value.join(', ') : String(value));
}
