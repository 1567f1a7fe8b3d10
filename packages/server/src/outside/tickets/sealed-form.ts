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

function isField(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { type, title, description, items, enum: values, enumNames, oneOf } = value;
  if (![title, description].every((one) => one === undefined || typeof one === 'string'))
    return false;
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
