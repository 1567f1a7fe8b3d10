import type { FormField, FormSchema } from '../../values/form.ts';

// A character is at most six bytes of JSON: \u001f.
const bytesOfCharacter = 6;
// The longest number: -1.2345678901234567e-100.
const bytesOfNumber = 24;

/** Bytes of a text field without `maxLength`: more than anybody types into a comment. */
const bytesOfOpenText = 16 * 1024;

/** Bytes of JSON of the largest content that a page accepts for a form. */
export function mostContentBytes({ properties }: FormSchema): number {
  return Object.entries(properties).reduce(
    (sum, [name, field]) => sum + bytesOfText(name) + mostFieldBytes(field) + 2,
    2,
  );
}

function mostFieldBytes(field: FormField): number {
  if (field.type === 'boolean') return 5;
  if (field.type === 'number' || field.type === 'integer') return bytesOfNumber;
  if (field.type === 'array') {
    const { items } = field;
    const choices = 'anyOf' in items ? items.anyOf.map((one) => one.const) : items.enum;
    return choices.reduce((sum, choice) => sum + bytesOfText(choice) + 1, 2);
  }
  const choices =
    'oneOf' in field && field.oneOf !== undefined
      ? field.oneOf.map((one) => one.const)
      : 'enum' in field
        ? field.enum
        : undefined;
  if (choices !== undefined) return Math.max(0, ...choices.map(bytesOfText));
  const { maxLength } = field as { readonly maxLength?: number };
  return maxLength === undefined ? bytesOfOpenText : 2 + bytesOfCharacter * maxLength;
}

function bytesOfText(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}
