import * as fc from 'fast-check';

/** A JSON Schema as zod writes one: the keywords that this file knows. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Names that a value may have beside the known ones: never a key that JSON parsers forbid. */
const otherName = fc.constantFrom(
  'x',
  'blocks',
  'note',
  'com.example/id',
  'constructor',
  'ünïcode',
);

/** Any string that a client can send: without half of a surrogate pair. */
const anyString = fc.string({ unit: 'grapheme', maxLength: 8 });

const anyJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 2 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    anyString,
    fc.array(tie('json'), { maxLength: 2 }),
    fc.dictionary(otherName, tie('json'), { maxKeys: 2 }),
  ),
})).json;

/** Generates every form of a value that a JSON Schema allows. */
export function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return fc.oneof(...union.map(valueOf));
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'array': {
      const { items = {}, minItems = 0, maxItems = minItems + 3 } = schema;
      return fc.array(valueOf(items), { minLength: minItems, maxLength: maxItems });
    }
    case 'string':
      return stringOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -100, max: schema.maximum ?? 100 });
    case 'number': {
      const { minimum: min = -100, maximum: max = 100 } = schema;
      return fc
        .double({ min, max, noNaN: true, noDefaultInfinity: true })
        .map((value) => value + 0);
    }
    case 'boolean':
      return fc.boolean();
    case undefined:
      return anyJson;
    default:
      throw new TypeError(`This generator does not know the type ${schema.type}.`);
  }
}

function objectOf({
  properties = {},
  required = [],
  additionalProperties: others = {},
}: JsonSchema): fc.Arbitrary<unknown> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, valueOf(of)])),
    { requiredKeys: [...required] },
  );
  if (others === false) return known;
  const more = fc.dictionary(otherName, valueOf(others === true ? {} : others), { maxKeys: 2 });
  return fc.tuple(more, known).map(([added, own]) => ({ ...added, ...own }));
}

function stringOf({
  format,
  minLength = 0,
  maxLength = minLength + 8,
}: JsonSchema): fc.Arbitrary<string> {
  const known = format === undefined ? undefined : formatted[format];
  return known === undefined ? fc.string({ minLength, maxLength }) : fc.constantFrom(...known);
}

const formatted: { readonly [format: string]: readonly string[] } = {
  email: ['ann@shop.example', 'a.b+c@mail.example'],
  uri: ['https://shop.example/a?b=c', 'http://localhost:1'],
  // The name under which zod writes that the URI of a root starts with `file://`.
  starts_with: ['file:///', 'file:///home/ann/a%20b'],
  date: ['2027-01-31', '2028-02-29'],
  'date-time': ['2027-01-31T12:00:00Z', '2028-02-29T00:00:00.5Z'],
};
