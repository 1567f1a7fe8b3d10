import type { Json } from '@mcp-saga/core';
import type { FormSchema } from '@mcp-saga/core/program';
import { textForPeople, type FormField, type TextField } from '@mcp-saga/core/shared';
import type { PageWords } from '../model/page-words.ts';
import { fill, html, ofData, type Html } from './page.ts';

/** Values of a form as posted, by the name of the input. */
export type Posted = ReadonlyMap<string, readonly string[]>;

/** Errors by the name of the field. */
export type FieldErrors = ReadonlyMap<string, Html>;

/** Options of a choice with their labels. */
export function choicesOf(
  field: FormField,
): readonly { readonly value: string; readonly label: string }[] | undefined {
  if (field.type === 'array') {
    const { items } = field;
    return 'anyOf' in items
      ? items.anyOf.map(({ const: value, title }) => ({ value, label: title }))
      : items.enum.map((value) => ({ value, label: value }));
  }
  if ('oneOf' in field)
    return field.oneOf.map(({ const: value, title }) => ({ value, label: title }));
  if (!('enum' in field)) return undefined;
  return field.enum.map((value, index) => ({ value, label: field.enumNames?.[index] ?? value }));
}

/** Name of the input of a field: an index, because names of fields are arbitrary texts. */
export function inputName(index: number): string {
  return `f${index}`;
}

/** Renders the fields of a form, with posted values and errors if there are any. */
export function renderFields(
  { properties, required = [] }: FormSchema,
  words: PageWords,
  posted?: Posted,
  errors?: FieldErrors,
): Html {
  const fields = Object.entries(properties).map(([name, field], index) =>
    renderField(field, words, {
      name,
      id: inputName(index),
      isRequired: required.includes(name),
      values: posted === undefined ? defaultOf(field) : (posted.get(inputName(index)) ?? []),
      error: errors?.get(name),
    }),
  );
  return html`${fields}`;
}

/** Renders posted values as hidden inputs, so that another form can post them again. */
export function renderHidden({ properties }: FormSchema, posted: Posted): Html {
  const inputs = Object.keys(properties).flatMap((_, index) =>
    (posted.get(inputName(index)) ?? []).map(
      (value) => html`<input type="hidden" name="${inputName(index)}" value="${value}" />`,
    ),
  );
  return html`${inputs}`;
}

interface Rendered {
  readonly name: string;
  readonly id: string;
  readonly isRequired: boolean;
  readonly values: readonly string[];
  readonly error: Html | undefined;
}

function renderField(field: FormField, words: PageWords, rendered: Rendered): Html {
  const { name, id, isRequired, values, error } = rendered;
  const { title = name, description } = field;
  const hint =
    description === undefined
      ? undefined
      : html`<p class="hint" id="${id}-hint">${ofData(description)}</p>`;
  const problem =
    error === undefined ? undefined : html`<p class="error" id="${id}-error">${error}</p>`;
  const ids = [hint && `${id}-hint`, problem && `${id}-error`].filter((one) => one !== undefined);
  const about = ids.length === 0 ? undefined : html` aria-describedby="${ids.join(' ')}"`;
  const state = html`${about}${error !== undefined && html` aria-invalid="true"`}${isRequired && html` required`}`;
  const marked = isRequired ? ofData(title) : fill(words.optional, { label: ofData(title) });
  if (field.type === 'boolean') {
    return html`<div class="field">
      <label class="choice"
        ><input type="checkbox" name="${id}" value="true" ${values.includes('true') && html` checked`}${about} />
        ${ofData(title)}</label
      >${hint}${problem}
    </div>`;
  }
  const choices = choicesOf(field);
  if (field.type === 'array') {
    const boxes = (choices ?? []).map(
      ({ value, label }) =>
        html`<label class="choice"
          ><input type="checkbox" name="${id}" value="${value}" ${values.includes(value) && html` checked`} />
          ${ofData(label)}</label
        >`,
    );
    return html`<fieldset ${about}>
      <legend>${marked}</legend>
      ${hint}${boxes}${problem}
    </fieldset>`;
  }
  const input =
    choices === undefined
      ? renderInput(field, id, state, values[0] ?? '')
      : html`<select id="${id}" name="${id}" ${state}>
          <option value=""></option>
          ${choices.map(({ value, label }) => html`<option value="${value}" ${values[0] === value && html` selected`}>${textForPeople(label)}</option>`)}
        </select>`;
  return html`<div class="field"><label for="${id}">${marked}</label>${hint}${input}${problem}</div>`;
}

function renderInput(field: FormField, id: string, state: Html, value: string): Html {
  if (field.type === 'number' || field.type === 'integer') {
    const { minimum, maximum } = field;
    return html`<input
      type="number"
      id="${id}"
      name="${id}"
      step="${field.type === 'integer' ? '1' : 'any'}"
      value="${value}"
      ${minimum !== undefined && html` min="${minimum}"`}${maximum !== undefined && html` max="${maximum}"`}${state}
    />`;
  }
  const { format, minLength, maxLength } = field as TextField;
  const bounds = html`${minLength !== undefined && html` minlength="${minLength}"`}${maxLength !== undefined && html` maxlength="${maxLength}"`}`;
  const type = format === undefined ? undefined : inputTypes[format];
  if (type === undefined && (maxLength ?? Number.POSITIVE_INFINITY) > 200)
    return html`<textarea id="${id}" name="${id}" rows="3" ${bounds}${state}>${value}</textarea>`;
  return html`<input type="${type ?? 'text'}" id="${id}" name="${id}" value="${value}" ${bounds}${state} />`;
}

const inputTypes: { readonly [format: string]: string } = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'text',
};

function defaultOf({ default: value }: { readonly default?: Json }): readonly string[] {
  return value === undefined ? [] : [value].flat().map(String);
}
