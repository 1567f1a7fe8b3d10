import { toJsonSchema as valibotToJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { elicit, withJsonSchema, type Steps } from '../src/index.ts';
import { parseContent } from '../src/values/form-content.ts';
import { toForm } from '../src/values/form.ts';
import type { FormField } from '../src/values/form-field.ts';
import type { Json } from '../src/values/json.ts';
import type { Schema } from '../src/values/standard-schema.ts';

/** One field, as each library writes it. Undefined: the library has no such field. */
interface Written {
  readonly zod: z.ZodType;
  readonly mini: mini.ZodMiniType;
  readonly valibot: v.GenericSchema;
  readonly ark?: object;
  /** The form, and a value that the user may give. */
  readonly field: FormField;
  readonly value: Json;
}

// In the order of the alphabet, in which arktype writes the members of a union.
const oneOf = [
  { const: 'large', title: 'Large' },
  { const: 'small', title: 'Small' },
];
const zodTitled = z.union([
  z.literal('large').meta({ title: 'Large' }),
  z.literal('small').meta({ title: 'Small' }),
]);
const miniTitled = mini.union([
  mini.literal('large').check(mini.meta({ title: 'Large' })),
  mini.literal('small').check(mini.meta({ title: 'Small' })),
]);
const valibotTitled = v.union([
  v.pipe(v.literal('large'), v.title('Large')),
  v.pipe(v.literal('small'), v.title('Small')),
]);
const arkTitled = type("'small'")
  .configure({ title: 'Small' })
  .or(type("'large'").configure({ title: 'Large' }));
const { _default: defaulted } = mini;
const sizes = ['large', 'small'] as const;

const kinds: { readonly [kind: string]: Written } = {
  'a string': {
    zod: z.string(),
    mini: mini.string(),
    valibot: v.string(),
    ark: type('string'),
    field: { type: 'string' },
    value: 'x',
  },
  'a string with a title, a description, and lengths': {
    zod: z.string().min(2).max(9).meta({ title: 'T', description: 'D' }),
    mini: mini
      .string()
      .check(mini.minLength(2), mini.maxLength(9), mini.meta({ title: 'T', description: 'D' })),
    valibot: v.pipe(v.string(), v.minLength(2), v.maxLength(9), v.title('T'), v.description('D')),
    ark: type('2 <= string <= 9').configure({ title: 'T', description: 'D' }),
    field: { type: 'string', title: 'T', description: 'D', minLength: 2, maxLength: 9 },
    value: 'abc',
  },
  'an email': {
    zod: z.email(),
    mini: mini.email(),
    valibot: v.pipe(v.string(), v.email()),
    ark: type('string.email'),
    field: { type: 'string', format: 'email' },
    value: 'ann@shop.example',
  },
  'a URI': {
    zod: z.url(),
    mini: mini.url(),
    valibot: v.pipe(v.string(), v.url()),
    ark: type('string.url'),
    field: { type: 'string', format: 'uri' },
    value: 'https://shop.example',
  },
  'a date': {
    zod: z.iso.date(),
    mini: mini.iso.date(),
    valibot: v.pipe(v.string(), v.isoDate()),
    field: { type: 'string', format: 'date' },
    value: '2027-01-31',
  },
  'a date-time': {
    zod: z.iso.datetime(),
    mini: mini.iso.datetime(),
    valibot: v.pipe(v.string(), v.isoTimestamp()),
    field: { type: 'string', format: 'date-time' },
    value: '2027-01-31T12:00:00Z',
  },
  'a number in bounds': {
    zod: z.number().min(0.5).max(5),
    mini: mini.number().check(mini.minimum(0.5), mini.maximum(5)),
    valibot: v.pipe(v.number(), v.minValue(0.5), v.maxValue(5)),
    ark: type('0.5 <= number <= 5'),
    field: { type: 'number', minimum: 0.5, maximum: 5 },
    value: 1.5,
  },
  'an integer': {
    zod: z.int().min(1),
    mini: mini.int().check(mini.minimum(1)),
    valibot: v.pipe(v.number(), v.integer(), v.minValue(1)),
    ark: type('number.integer >= 1'),
    field: { type: 'integer', minimum: 1 },
    value: 2,
  },
  'a boolean': {
    zod: z.boolean(),
    mini: mini.boolean(),
    valibot: v.boolean(),
    ark: type('boolean'),
    field: { type: 'boolean' },
    value: false,
  },
  'an untitled choice': {
    zod: z.enum(sizes),
    mini: mini.enum(sizes),
    valibot: v.picklist(sizes),
    ark: type.enumerated(...sizes),
    field: { type: 'string', enum: [...sizes] },
    value: 'large',
  },
  'a titled choice': {
    zod: zodTitled,
    mini: miniTitled,
    valibot: valibotTitled,
    ark: arkTitled,
    field: { type: 'string', oneOf },
    value: 'large',
  },
  'a titled choice of one': {
    zod: z.union([z.literal('small').meta({ title: 'Small' })]),
    mini: mini.union([mini.literal('small').check(mini.meta({ title: 'Small' }))]),
    valibot: v.union([v.pipe(v.literal('small'), v.title('Small'))]),
    field: { type: 'string', oneOf: oneOf.slice(1) },
    value: 'small',
  },
  'a choice with the older names': {
    zod: z.enum(sizes).meta({ enumNames: ['Large', 'Small'] }),
    mini: mini.enum(sizes).check(mini.meta({ enumNames: ['Large', 'Small'] })),
    valibot: v.pipe(v.picklist(sizes), v.metadata({ enumNames: ['Large', 'Small'] })),
    field: { type: 'string', enum: [...sizes], enumNames: ['Large', 'Small'] },
    value: 'small',
  },
  'an untitled list of choices': {
    zod: z.array(z.enum(sizes)).min(1).max(2),
    mini: mini.array(mini.enum(sizes)).check(mini.minLength(1), mini.maxLength(2)),
    valibot: v.pipe(v.array(v.picklist(sizes)), v.minLength(1), v.maxLength(2)),
    ark: type
      .enumerated(...sizes)
      .array()
      .atLeastLength(1)
      .atMostLength(2),
    field: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: { type: 'string', enum: [...sizes] },
    },
    value: ['large'],
  },
  'a titled list of choices': {
    zod: z.array(zodTitled),
    mini: mini.array(miniTitled),
    valibot: v.array(valibotTitled),
    ark: arkTitled.array(),
    field: { type: 'array', items: { anyOf: oneOf } },
    value: ['small', 'large'],
  },
};

/** How each library makes an object of one field, and how the library writes it as JSON Schema. */
const libraries: {
  readonly [name: string]: (written: Written, isOptional: boolean) => Schema | undefined;
} = {
  zod: ({ zod }, isOptional) => z.object({ a: isOptional ? zod.optional() : zod }),
  'zod, with null for an absent field': ({ zod }, isOptional) =>
    isOptional ? z.object({ a: zod.nullish() }) : undefined,
  'zod/mini': ({ mini: field }, isOptional) =>
    withJsonSchema(
      mini.object({ a: isOptional ? mini.optional(field) : field }),
      mini.toJSONSchema,
    ),
  valibot: ({ valibot }, isOptional) =>
    toStandardJsonSchema(v.object({ a: isOptional ? v.optional(valibot) : valibot })),
  'valibot, by a wrapper': ({ valibot }, isOptional) =>
    withJsonSchema(v.object({ a: isOptional ? v.nullish(valibot) : valibot }), valibotToJsonSchema),
  arktype: ({ ark }, isOptional) => ark && type({ [isOptional ? 'a?' : 'a']: ark } as never),
  'arktype without Standard JSON Schema': ({ ark }, isOptional) => {
    if (ark === undefined) return undefined;
    const object = type({ [isOptional ? 'a?' : 'a']: ark } as never) as unknown as Schema;
    const { jsonSchema, ...standard } = object['~standard'];
    const toJsonSchema = ({ target }: { target: string }) => jsonSchema?.input({ target });
    return { '~standard': standard, toJsonSchema } as Schema;
  },
  'z.fromJSONSchema': ({ field }, isOptional) =>
    z.fromJSONSchema({
      type: 'object',
      properties: { a: field },
      required: isOptional ? [] : ['a'],
    }),
};

interface Case {
  readonly library: string;
  readonly kind: string;
  readonly isOptional: boolean;
  readonly schema: Schema;
  readonly written: Written;
}

const cases = Object.entries(libraries).flatMap(([library, make]) =>
  Object.entries(kinds).flatMap(([kind, written]) =>
    [true, false].flatMap((isOptional): readonly Case[] => {
      const schema = make(written, isOptional);
      return schema === undefined ? [] : [{ library, kind, isOptional, schema, written }];
    }),
  ),
);

describe.each(cases)(
  '$kind of $library, optional: $isOptional,',
  ({ schema, written: { field, value }, isOptional }) => {
    it('[W1] is a field of a form that the user can fill in', async () => {
      expect(toForm(schema)).toEqual({
        type: 'object',
        properties: { a: field },
        ...(isOptional ? {} : { required: ['a'] }),
      });
      const content = { a: value };
      expect(await parseContent(schema, content)).toEqual({ ok: true, value: content });
      expect((await parseContent(schema, { a: null })).ok).toBe(isOptional);
    });
  },
);

describe('a default of a field', () => {
  const defaults: { readonly [library: string]: Schema } = {
    zod: z.object({
      text: z.string().default('x'),
      count: z.int().default(3),
      sure: z.boolean().default(true),
      size: z.enum(sizes).default('small'),
      all: z.array(z.enum(sizes)).default(['small']),
    }),
    'zod/mini': withJsonSchema(
      mini.object({
        text: defaulted(mini.string(), 'x'),
        count: defaulted(mini.int(), 3),
        sure: defaulted(mini.boolean(), true),
        size: defaulted(mini.enum(sizes), 'small'),
        all: defaulted(mini.array(mini.enum(sizes)), ['small']),
      }),
      mini.toJSONSchema,
    ),
    valibot: toStandardJsonSchema(
      v.object({
        text: v.optional(v.string(), 'x'),
        count: v.optional(v.pipe(v.number(), v.integer()), 3),
        sure: v.optional(v.boolean(), true),
        size: v.optional(v.picklist(sizes), 'small'),
        all: v.optional(v.array(v.picklist(sizes)), ['small']),
      }),
    ),
  };

  it.each(Object.entries(defaults))(
    '[W1] of %s is shown, and used for a missing field',
    async (_, schema) => {
      const items = { type: 'string', enum: [...sizes] };
      expect(toForm(schema)).toEqual({
        type: 'object',
        properties: {
          text: { type: 'string', default: 'x' },
          count: { type: 'integer', default: 3 },
          sure: { type: 'boolean', default: true },
          size: { ...items, default: 'small' },
          all: { type: 'array', items, default: ['small'] },
        },
      });
      expect(await parseContent(schema, { size: '', count: '' })).toEqual({
        ok: true,
        value: { text: 'x', count: 3, sure: true, size: 'small', all: ['small'] },
      });
    },
  );
});

describe('a form of MCP', () => {
  const label = {
    title: fc.string({ minLength: 1, maxLength: 5 }),
    description: fc.string({ minLength: 1, maxLength: 5 }),
  };
  // zod keeps choices as the keys of an object, which puts numbers first.
  const option = fc.string({ maxLength: 5, unit: 'grapheme-ascii' }).map((text) => `o${text}`);
  const options = fc.uniqueArray(option, { minLength: 1, maxLength: 4 });
  const titled = options.map((values) =>
    values.map((value) => ({ const: value, title: `T ${value}` })),
  );
  const some = <T extends object>(
    model: { [K in keyof T]: fc.Arbitrary<T[K]> },
    requiredKeys: (keyof T)[],
  ) => fc.record(model, { requiredKeys });
  const text = some(
    {
      type: fc.constant('string'),
      ...label,
      minLength: fc.nat(3),
      maxLength: fc.integer({ min: 3, max: 9 }),
      default: fc.constant('abc'),
    },
    ['type'],
  );
  const formatted = some(
    {
      type: fc.constant('string'),
      ...label,
      format: fc.constantFrom('email', 'uri', 'date', 'date-time'),
    },
    ['type', 'format'],
  );
  const number = some(
    {
      type: fc.constantFrom('number', 'integer'),
      ...label,
      minimum: fc.integer({ min: -9, max: 0 }),
      maximum: fc.integer({ min: 0, max: 9 }),
      default: fc.constant(0),
    },
    ['type'],
  );
  const boolean = some({ type: fc.constant('boolean'), ...label, default: fc.boolean() }, ['type']);
  const choice = options.chain((values) =>
    some(
      {
        type: fc.constant('string'),
        ...label,
        enum: fc.constant(values),
        enumNames: fc.constant(values.map((value) => `N ${value}`)),
        default: fc.constantFrom(...values),
      },
      ['type', 'enum'],
    ),
  );
  const titledChoice = titled.chain((values) =>
    some(
      {
        type: fc.constant('string'),
        ...label,
        oneOf: fc.constant(values),
        default: fc.constantFrom(...values.map((value) => value.const)),
      },
      ['type', 'oneOf'],
    ),
  );
  const listed = (items: object, values: readonly string[]) =>
    some(
      {
        type: fc.constant('array'),
        ...label,
        items: fc.constant(items),
        minItems: fc.nat(1),
        maxItems: fc.integer({ min: 1, max: 4 }),
        default: fc.constant(values.slice(0, 1)),
      },
      ['type', 'items'],
    );
  const choices = options.chain((values) => listed({ type: 'string', enum: values }, values));
  const titledChoices = titled.chain((values) =>
    listed(
      { anyOf: values },
      values.map((value) => value.const),
    ),
  );
  const anyField = fc.oneof(
    text,
    formatted,
    number,
    boolean,
    choice,
    titledChoice,
    choices,
    titledChoices,
  );

  it('[W1] read by z.fromJSONSchema is written as the same form', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', 'c c'), fc.tuple(anyField, fc.boolean())),
        (fields) => {
          const properties = Object.fromEntries(
            Object.entries(fields).map(([name, [field]]) => [name, field]),
          );
          const required = Object.entries(fields).flatMap(([name, [, isRequired]]) =>
            isRequired ? [name] : [],
          );
          const schema = z.fromJSONSchema({
            type: 'object',
            properties: properties as never,
            required,
          });
          // A field with a default need not be filled in.
          const needed = required.filter((name) => !('default' in (properties[name] as object)));
          expect(toForm(schema as unknown as Schema)).toEqual({
            type: 'object',
            properties,
            ...(needed.length === 0 ? {} : { required: needed }),
          });
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a form that no client can answer', () => {
  const written = (properties: object, required: readonly string[] = []): Schema => ({
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ value }),
      jsonSchema: {
        input: () => ({ type: 'object', properties, required }),
        output: () => ({}),
      },
    },
  });

  it.each<[string, Schema]>([
    ['a file', z.object({ a: z.file() })],
    ['an optional file', z.object({ a: z.file().optional() })],
    ['a file of zod/mini', withJsonSchema(mini.object({ a: mini.file() }), mini.toJSONSchema)],
    ['a file of valibot', toStandardJsonSchema(v.object({ a: v.file() }))],
    ['a file of arktype', type({ a: type.instanceOf(File) })],
    ['no choices', z.object({ a: z.enum([]) })],
    ['no optional choices', z.object({ a: z.enum([]).optional() })],
    ['a list without choices', z.object({ a: z.array(z.enum([])) })],
    ['no choices of valibot', toStandardJsonSchema(v.object({ a: v.picklist([]) }))],
    ['no choices, titled', written({ a: { type: 'string', oneOf: [] } })],
    ['nothing', z.object({ a: z.never() })],
    ['a shortest length above the longest', z.object({ a: z.string().min(3).max(2) })],
    ['a least number above the largest', z.object({ a: z.number().min(3).max(2) })],
    ['no integer between its bounds', z.object({ a: z.int().gt(1).lt(2) })],
    [
      'a shortest list above the longest',
      z.object({
        a: z
          .array(z.enum(['x']))
          .min(2)
          .max(1),
      }),
    ],
    ['a required field without a schema', written({}, ['a'])],
  ])('[W1] is refused at its creation, by the name of the field: %s', (_, schema) => {
    const create = (): unknown =>
      elicit('q', { message: 'm', schema: schema as z.ZodObject<never> });
    expect(create).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(create).toThrow(/^elicit\('q'\): .*(?:'a(?:\[\])?'|file)/);
  });

  it('[W1] is not refused for several of few choices: an option may count twice', () => {
    expect(() => toForm(z.object({ a: z.array(z.enum(['x'])).min(2) }))).not.toThrow();
  });
});

describe('an intersection', () => {
  it.each<[string, Schema, object]>([
    [
      'of bounds',
      z.object({ a: z.string().min(1).max(9).and(z.string().min(2).max(8)) }),
      { a: { type: 'string', minLength: 2, maxLength: 8 } },
    ],
    [
      'of objects',
      toStandardJsonSchema(
        v.intersect([v.object({ a: v.string() }), v.object({ b: v.boolean() })]),
      ),
      { a: { type: 'string' }, b: { type: 'boolean' } },
    ],
  ])('[W1] %s is one form', (_, schema, properties) => {
    expect(toForm(schema)).toEqual({
      type: 'object',
      properties,
      required: Object.keys(properties),
    });
  });

  it('[W1] of types is refused', () => {
    expect(() => toForm(z.object({ a: z.string().and(z.number()) }))).toThrow(/intersection/);
  });
});

describe('a schema without JSON Schema', () => {
  it('[W1] is refused with the function that adds it', () => {
    const schema = mini.object({ a: mini.string() });
    expect(() => elicit('q', { message: 'm', schema })).toThrow(/withJsonSchema\(schema/);
    expect(() => elicit('q', { message: 'm', schema: v.object({}) })).toThrow(/valibot/);
  });

  it('[W1] keeps its type and its other members when JSON Schema is added', () => {
    const schema = mini.object({ a: mini.string(), b: mini.optional(mini.int()) });
    const added = withJsonSchema(schema, mini.toJSONSchema);
    expect(added.parse({ a: 'x' })).toEqual({ a: 'x' });
    expect(added['~standard'].vendor).toBe('zod');
  });
});

/** Compiles: a body gets the type of the content, whatever the library. */
export function* typed(): Steps<readonly [string, number | undefined, 'large' | 'small']> {
  const m = yield* elicit('m', {
    message: 'm',
    schema: withJsonSchema(mini.object({ a: mini.string() }), mini.toJSONSchema),
  });
  const w = yield* elicit('v', {
    message: 'm',
    schema: toStandardJsonSchema(v.object({ a: v.optional(v.number()) })),
  });
  const k = yield* elicit('k', { message: 'm', schema: type({ a: "'large' | 'small'" }) });
  return [m.a, w.a, k.a];
}
