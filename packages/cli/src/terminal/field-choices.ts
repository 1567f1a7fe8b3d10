import type { FormField } from '@mcp-saga/client';

/** Allowed value of a field, with its label. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Returns the allowed values of a choice field, or undefined for other fields. */
export function choicesOf(field: FormField): readonly Choice[] | undefined {
  if (field.type === 'array') {
    const { items } = field;
    return 'anyOf' in items ? titled(items.anyOf) : items.enum.map((value) => ({ value, label: value }));
  }
  if (field.type !== 'string') return undefined;
  if ('oneOf' in field) return titled(field.oneOf);
  if (!('enum' in field)) return undefined;
  const { enumNames } = field;
  return field.enum.map((value, index) => ({ value, label: enumNames?.[index] ?? value }));
}

function titled(choices: readonly { const: string; title: string }[]): readonly Choice[] {
  return choices.map(({ const: value, title }) => ({ value, label: title }));
}
