import type { Json } from '@mcp-saga/core';
import { isBlank, type FormSchema } from '@mcp-saga/core/program';
import type { FormField } from '@mcp-saga/core/shared';
import { choicesOf } from './html-form-fields.ts';
import type { PageWords } from '../model/page-words.ts';
import { html, ofData, type Html } from './page.ts';

/** Renders the values of a form, each below the label of its field, also those that are empty. */
export function renderValues(
  { properties }: FormSchema,
  content: { readonly [name: string]: Json },
  words: PageWords,
): Html {
  const fields = Object.entries(properties);
  if (fields.length === 0) return html``;
  const rows = fields.map(([name, field]) => {
    const texts = textsOf(field, Object.hasOwn(content, name) ? content[name] : undefined, words);
    const values = texts.map((text) => html`<dd>${ofData(text)}</dd>`);
    const none = html`<dd class="note">${words.empty}</dd>`;
    return html`<dt>${ofData(field.title ?? name)}</dt>${values.length === 0 ? none : values}`;
  });
  return html`<dl>${rows}</dl>`;
}

/** Texts of a value: the labels of its options, as the person chose them. */
function textsOf(field: FormField, value: Json | undefined, words: PageWords): readonly string[] {
  if (value === undefined || isBlank(value)) return [];
  if (typeof value === 'boolean') return [value ? words.yes : words.no];
  const choices = choicesOf(field);
  return [value].flat().map((one) => {
    const text = typeof one === 'string' ? one : JSON.stringify(one);
    return choices?.find((choice) => choice.value === one)?.label ?? text;
  });
}
