import type { FormSchema } from '../../values/form.ts';
import type { FormField } from '../../values/form-field.ts';
import { mostBytesOfCharacter, mostBytesOfNumber } from '../../values/json.ts';

/** Bytes of a text field without `maxLength`: more than anybody types into a comment. */
const bytesOfOpenText = 16 * 1024;

const utf8 = new TextEncoder();

/** Forms whose bytes were counted: each replay asks for them again. */
const known = new WeakMap<FormSchema, number>();

/** Bytes of JSON of the largest content that a page accepts for a form. */
export function mostContentBytes(form: FormSchema): number {
  const bytes = known.get(form) ?? countedBytes(form);
  known.set(form, bytes);
  return bytes;
}

function countedBytes({ properties }: FormSchema): number {
  return Object.entries(properties).reduce(
    (sum, [name, field]) => sum + bytesOfText(name) + mostFieldBytes(field) + 2,
    2,
  );
}

function mostFieldBytes(field: FormField): number {
  if (field.type === 'boolean') return 5;
  if (field.type === 'array') {
    const { items } = field;
    const choices = 'anyOf' in items ? items.anyOf.map((one) => one.const) : items.enum;
    return choices.reduce((sum, choice) => sum + bytesOfText(choice) + 1, 2);
  }
  if (field.type !== 'string') return mostBytesOfNumber;
  if ('oneOf' in field) return Math.max(0, ...field.oneOf.map((one) => bytesOfText(one.const)));
  if ('enum' in field) return Math.max(0, ...field.enum.map(bytesOfText));
  const { maxLength } = field;
  return maxLength === undefined ? bytesOfOpenText : 2 + mostBytesOfCharacter * maxLength;
}

function bytesOfText(text: string): number {
  return utf8.encode(JSON.stringify(text)).length;
}
