import type { Json } from '@mcp-saga/core';
import { isBlank, type FormSchema } from '@mcp-saga/core/program';
import type { FormField, NumberField, TextField } from '@mcp-saga/core/shared';
import type { PageWords } from '../model/page-words.ts';
import { fill, html, type Html } from './page.ts';
import { choicesOf, inputName } from './html-form-fields.ts';
import type { FieldErrors, Posted } from './html-form-fields.ts';

/** Content of a posted form, and the errors of its fields. */
export interface FormContent {
  readonly content: { readonly [name: string]: Json };
  readonly errors: FieldErrors;
}

/**
 * Reads a posted form by its schema. A field that was left empty is omitted: a form on the web
 * sends an empty string for it. The schema of the saga checks the content again.
 */
export function readForm(
  { properties, required = [] }: FormSchema,
  posted: Posted,
  words: PageWords,
): FormContent {
  const errors = new Map<string, Html>();
  const entries = Object.entries(properties).flatMap(([name, field], index): [string, Json][] => {
    const values = (posted.get(inputName(index)) ?? []).filter((value) => !isBlank(value));
    const { value, error } = readField(field, values, words);
    const isRequired = required.includes(name);
    // An optional list may be left empty even if a list needs several options.
    if (error !== undefined && (isRequired || values.length > 0)) errors.set(name, error);
    if (value !== undefined) return [[name, value]];
    if (error === undefined && isRequired) errors.set(name, html`${words.fillIn}`);
    return [];
  });
  return { content: Object.fromEntries(entries), errors };
}

interface ReadField {
  readonly value?: Json;
  readonly error?: Html;
}

function wrong(text: string, values: { readonly [place: string]: number } = {}): ReadField {
  return { error: fill(text, values) };
}

function readField(field: FormField, values: readonly string[], words: PageWords): ReadField {
  const [text] = values;
  if (field.type === 'boolean')
    return values.length > 1 ? wrong(words.chooseOnce) : { value: text === 'true' };
  const choices = choicesOf(field)?.map(({ value }) => value);
  if (choices !== undefined && !values.every((value) => choices.includes(value)))
    return wrong(words.chooseOption);
  if (field.type === 'array') {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = field;
    const value = [...new Set(values)];
    if (value.length < minItems) return wrong(words.chooseAtLeast, { least: minItems });
    return value.length > maxItems ? wrong(words.chooseAtMost, { most: maxItems }) : { value };
  }
  if (text === undefined) return {};
  // A list would have to be cut to one value, and the person would not know to which.
  if (values.length > 1) return wrong(words.enterOne);
  if (choices !== undefined) return { value: text };
  return field.type === 'string' ? readText(field, text, words) : readNumber(field, text, words);
}

function readNumber(field: FormField, text: string, words: PageWords): ReadField {
  const { type, minimum = -Infinity, maximum = Infinity } = field as NumberField;
  const value = Number(text.trim());
  if (text.trim() === '' || !Number.isFinite(value)) return wrong(words.enterNumber);
  if (type === 'integer' && !Number.isSafeInteger(value)) return wrong(words.enterWholeNumber);
  if (value < minimum) return wrong(words.enterNumberFrom, { least: minimum });
  return value > maximum ? wrong(words.enterNumberUpTo, { most: maximum }) : { value };
}

function readText(field: FormField, value: string, words: PageWords): ReadField {
  const { format, minLength = 0, maxLength = Infinity } = field as TextField;
  // As JSON Schema counts.
  const length = Array.from(value).length;
  if (length < minLength) return wrong(words.enterAtLeast, { least: minLength });
  if (length > maxLength) return wrong(words.enterAtMost, { most: maxLength });
  const problem = format === undefined ? undefined : formats[format];
  return problem === undefined || problem.test(value) ? { value } : wrong(words[problem.error]);
}

const formats: Readonly<
  Record<string, { readonly test: (text: string) => boolean; readonly error: keyof PageWords }>
> = {
  email: { test: (text) => /^[^\s@]+@[^\s@]+$/.test(text), error: 'enterEmail' },
  uri: { test: (text) => URL.canParse(text), error: 'enterUrl' },
  date: {
    test: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
    error: 'enterDate',
  },
  'date-time': {
    test: (text) =>
      /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
    error: 'enterTime',
  },
};
