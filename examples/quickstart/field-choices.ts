import type { FormField } from '@mcp-saga/client';

/** One of the texts a field allows, and what the person reads. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The texts a field allows, of one or of several, titled or not; undefined for a field that is typed or ticked. */
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
