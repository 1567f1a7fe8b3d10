import type { Json } from '@mcp-saga/server';

/** Field of a form in MCP, as far as the kit reads it. */
export interface Field {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string; readonly title?: string }[];
  readonly items?: Pick<Field, 'enum'> & { readonly anyOf?: Field['oneOf'] };
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Form {
  readonly properties: { readonly [name: string]: Field };
  readonly required: readonly string[];
}

export type Content = { readonly [name: string]: Json };

/** Returns the form of a question; undefined for a question by URL. */
export function formOf(params: { readonly [key: string]: Json }): Form | undefined {
  const schema = params['requestedSchema'] as
    | { readonly properties?: Form['properties']; readonly required?: readonly string[] }
    | undefined;
  if (schema === undefined) return undefined;
  return { properties: schema.properties ?? {}, required: schema.required ?? [] };
}

/** Returns the choices of a field; undefined if it has none. */
export function choicesOf({ enum: own, oneOf, items }: Field): readonly string[] | undefined {
  return own ?? items?.enum ?? (oneOf ?? items?.anyOf)?.map((choice) => choice.const);
}

export function simplestContent({ properties, required }: Form): Content {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) =>
      hasUsableDefault(field) || required.includes(name)
        ? [[name, simplestValue(name, field)]]
        : [],
    ),
  );
}

/**
 * `false` for a default that the form itself rejects: a schema does not check the default of a
 * missing field.
 */
function hasUsableDefault({ default: value, format, ...field }: Field): boolean {
  if (value === undefined || value === null || (value === '' && format !== undefined)) return false;
  if (typeof value === 'string') return isWithin(value.length, field.minLength, field.maxLength);
  if (Array.isArray(value)) return isWithin(value.length, field.minItems, field.maxItems);
  return isWithin(Number(value), field.minimum, field.maximum);
}

const isWithin = (size: number, least = -Infinity, most = Infinity): boolean =>
  size >= least && size <= most;

const formatted = {
  email: 'user@example.com',
  uri: 'https://example.com',
  date: '2030-01-31',
  'date-time': '2030-01-31T12:00:00Z',
} as const;

export function simplestValue(name: string, field: Field): Json {
  if (field.default !== undefined && hasUsableDefault(field)) return field.default;
  const choices = choicesOf(field);
  switch (field.type) {
    case 'boolean':
      return true;
    case 'array':
      return (choices ?? []).slice(0, field.minItems ?? 0);
    case 'number':
    case 'integer':
      return Math.min(Math.max(1, field.minimum ?? 1), field.maximum ?? 1);
    case 'string':
      if (choices !== undefined) return choices[0] ?? '';
      if (field.format !== undefined) return formatted[field.format];
      return name.padEnd(field.minLength ?? 0, 'x').slice(0, field.maxLength ?? name.length + 64);
  }
}

/** Describes a form, one line per field. */
export function describeForm({ properties, required }: Form): readonly string[] {
  return Object.entries(properties).map(([name, field]) => {
    const choices = choicesOf(field);
    const kind =
      choices === undefined
        ? (field.format ?? field.type)
        : `${field.type === 'array' ? 'any' : 'one'} of ${choices.map((text) => JSON.stringify(text)).join(', ')}`;
    const bounds = [
      bound('from', field.minimum ?? field.minLength ?? field.minItems),
      bound('to', field.maximum ?? field.maxLength ?? field.maxItems),
    ].join('');
    return `${name}${required.includes(name) ? '' : '?'}: ${kind}${bounds}`;
  });
}

function bound(word: string, value: number | undefined): string {
  return value === undefined ? '' : ` ${word} ${value}`;
}
