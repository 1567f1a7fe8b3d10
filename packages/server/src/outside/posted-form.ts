import type { Json } from '@mcp-saga/core';
import { isBlank, type FormField, type FormSchema } from '@mcp-saga/core/program';
import { choicesOf, inputName } from './html-form-fields.ts';
import type { FieldErrors, NumberField, Posted, TextField } from './html-form-fields.ts';

/** Content of a posted form, and the errors of its fields. */
export interface FormContent {
  readonly content: { readonly [name: string]: Json };
  readonly errors: FieldErrors;
}

/**
 * Reads a posted form by its schema. A field that was left empty is omitted: a form on the web
 * sends an empty string for it. The schema of the saga checks the content again.
 */
export function readForm({ properties, required = [] }: FormSchema, posted: Posted): FormContent {
  const errors = new Map<string, string>();
  const entries = Object.entries(properties).flatMap(([name, field], index): [string, Json][] => {
    const values = (posted.get(inputName(index)) ?? []).filter((value) => !isBlank(value));
    const { value, error } = readField(field, values);
    const isRequired = required.includes(name);
    // An optional list may be left empty even if a list needs several options.
    if (error !== undefined && (isRequired || values.length > 0)) errors.set(name, error);
    if (value !== undefined) return [[name, value]];
    if (error === undefined && isRequired) errors.set(name, 'Fill in this field.');
    return [];
  });
  return { content: Object.fromEntries(entries), errors };
}

interface ReadField {
  readonly value?: Json;
  readonly error?: string;
}

function readField(field: FormField, values: readonly string[]): ReadField {
  const [text] = values;
  if (field.type === 'boolean')
    return values.length > 1 ? { error: 'Choose once.' } : { value: text === 'true' };
  const choices = choicesOf(field)?.map(({ value }) => value);
  if (choices !== undefined && !values.every((value) => choices.includes(value)))
    return { error: 'Choose one of the options.' };
  if (field.type === 'array') {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = field;
    const value = [...new Set(values)];
    if (value.length < minItems) return { error: `Choose at least ${minItems}.` };
    return value.length > maxItems ? { error: `Choose at most ${maxItems}.` } : { value };
  }
  if (text === undefined) return {};
  // A list would have to be cut to one value, and the person would not know to which.
  if (values.length > 1) return { error: 'Enter one value.' };
  if (choices !== undefined) return { value: text };
  return field.type === 'string' ? readText(field, text) : readNumber(field, text);
}

function readNumber(field: FormField, text: string): ReadField {
  const { type, minimum = -Infinity, maximum = Infinity } = field as NumberField;
  const value = Number(text.trim());
  if (text.trim() === '' || !Number.isFinite(value)) return { error: 'Enter a number.' };
  if (type === 'integer' && !Number.isSafeInteger(value)) return { error: 'Enter a whole number.' };
  if (value < minimum) return { error: `Enter a number from ${minimum}.` };
  return value > maximum ? { error: `Enter a number up to ${maximum}.` } : { value };
}

function readText(field: FormField, value: string): ReadField {
  const { format, minLength = 0, maxLength = Infinity } = field as TextField;
  // As JSON Schema counts.
  const length = Array.from(value).length;
  if (length < minLength) return { error: `Enter at least ${minLength} characters.` };
  if (length > maxLength) return { error: `Enter at most ${maxLength} characters.` };
  const problem = format === undefined ? undefined : formats[format];
  return problem === undefined || problem.test(value) ? { value } : { error: problem.error };
}

const formats: Readonly<
  Record<string, { readonly test: (text: string) => boolean; readonly error: string }>
> = {
  email: { test: (text) => /^[^\s@]+@[^\s@]+$/.test(text), error: 'Enter an email address.' },
  uri: { test: (text) => URL.canParse(text), error: 'Enter a URL, such as https://shop.example.' },
  date: {
    test: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
    error: 'Enter a date, such as 2027-01-31.',
  },
  'date-time': {
    test: (text) =>
      /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
    error: 'Enter a time, such as 2027-01-31T12:00:00Z.',
  },
};
