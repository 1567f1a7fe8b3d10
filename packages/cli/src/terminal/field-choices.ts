import { textForPeople } from '@mcp-saga/core/shared';
import type { EnumField, FormField } from '@mcp-saga/client';

/** Allowed value of a field, with its label. */
export type Choice = Readonly<Record<'value' | 'label', string>>;

/** Returns the allowed values of a choice field, or undefined for other fields. */
export function choicesOf(field: FormField): readonly Choice[] | undefined {
  const values = field.type === 'array' ? field.items : field;
  const titled = 'anyOf' in values ? values.anyOf : 'oneOf' in values ? values.oneOf : undefined;
  if (titled !== undefined)
    return titled.map(({ const: value, title }) => ({ value, label: textForPeople(title) }));
  if (!('enum' in values)) return undefined;
  const { enum: allowed, enumNames } = values as Pick<EnumField, 'enum' | 'enumNames'>;
  return allowed.map((value, index) => ({
    value,
    label: textForPeople(enumNames?.[index] ?? value),
  }));
}
