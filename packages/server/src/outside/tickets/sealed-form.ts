import { isRecord, type FormSchema, isTexts } from '@mcp-saga/core/program';

/**
 * `true` for a form that a page can show. The form of a ticket was written by this host, but a good
 * seal says only who wrote it, and the page reads each part without another check.
 */
export function isForm(value: unknown): value is FormSchema {
  if (!isRecord(value) || !isRecord(value['properties'])) return false;
  const { properties, required = [] } = value;
  return isTexts(required) && Object.values(properties as object).every(isField);
}

const texts = ['title', 'description', 'format'];
const bounds = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'];

function isField(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { type, items, enum: values, enumNames, oneOf, default: initial } = value;
  const have = (names: readonly string[], kind: string): boolean =>
    names.every((name) => value[name] === undefined || typeof value[name] === kind);
  if (!have(texts, 'string') || !have(bounds, 'number')) return false;
  if (typeof initial === 'object' && !isTexts(initial)) return false;
  if (type === 'array') return isRecord(items) && isChoice(items['enum'], items['anyOf']);
  if (![values, enumNames].every((one) => one === undefined || isTexts(one))) return false;
  if (oneOf !== undefined && !isOptions(oneOf)) return false;
  return typeof type === 'string' && ['string', 'number', 'integer', 'boolean'].includes(type);
}

function isChoice(values: unknown, options: unknown): boolean {
  return options === undefined ? isTexts(values) : isOptions(options);
}

function isOptions(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (one) =>
        isRecord(one) && typeof one['const'] === 'string' && typeof one['title'] === 'string',
    )
  );
}
