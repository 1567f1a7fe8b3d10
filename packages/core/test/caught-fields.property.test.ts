import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { withJsonSchema } from '../src/index.ts';
import { toForm } from '../src/values/form.ts';
import { toJsonSchema } from '../src/values/standard-schema.ts';

type Caught = { readonly error: { readonly issues: readonly unknown[] } };
type Layer = (inner: z.ZodType) => z.ZodType;

const layers: { readonly [name: string]: Layer } = {
  catch: (inner) => inner.catch('caught'),
  'catch by a function': (inner) => inner.catch(() => 'caught'),
  'catch by a function of the error': (inner) =>
    inner.catch(({ error }: Caught) => (error.issues.length > 0 ? 'caught' : '')),
  default: (inner) => inner.default('default'),
  prefault: (inner) => inner.prefault('prefault'),
  optional: (inner) => inner.optional(),
  nullable: (inner) => inner.nullable(),
  readonly: (inner) => inner.readonly(),
  pipe: (inner) => inner.pipe(z.any()),
};
const names = fc.array(fc.constantFrom(...Object.keys(layers)), { maxLength: 4 });

const fieldOf = (wrapped: readonly string[]): z.ZodType =>
  wrapped.reduce<z.ZodType>((inner, name) => layers[name]?.(inner) ?? inner, z.string());

interface Printed {
  readonly required?: readonly string[];
  readonly properties: { readonly field: { readonly default?: unknown } };
}

describe('a field of a zod schema', () => {
  it('is printed as required only if it cannot be left out', () => {
    fc.assert(
      fc.property(names, (wrapped) => {
        const schema = z.object({ field: fieldOf(wrapped) });
        const { required = [] } = toJsonSchema(schema, 'input') as unknown as Printed;
        expect(required).toEqual(schema.safeParse({}).success ? [] : ['field']);
      }),
      { numRuns: 300 },
    );
  });

  it('is printed with a default only if its author set one', () => {
    fc.assert(
      fc.property(names, (wrapped) => {
        const schema = z.object({ field: fieldOf(wrapped) });
        const { properties } = toJsonSchema(schema, 'input') as unknown as Printed;
        const { default: shown } = properties.field;
        if (!wrapped.some((name) => /^(default|prefault)$/.test(name)))
          expect(shown).toBeUndefined();
        expect(shown).not.toBe('caught');
      }),
      { numRuns: 300 },
    );
  });
});

it('a field whose catch function throws is printed without a default', () => {
  const failing = (): string => {
    throw new Error('Refused');
  };
  const schema = z.object({ field: z.string().default('own').catch(failing), b: z.string() });
  expect(toJsonSchema(schema, 'input')).toMatchObject({
    properties: { field: { type: 'string', default: 'own' }, b: { type: 'string' } },
    required: ['b'],
  });
});

it('a type that JSON lacks is refused next to a catch function of the error', () => {
  const caught = z.string().catch(({ error }) => String(error.issues.length));
  expect(() => toJsonSchema(z.object({ caught, day: z.date() }), 'input')).toThrow(/date/i);
  expect(() => toJsonSchema(z.object({ day: z.date(), caught }), 'input')).toThrow(/date/i);
});

const { _default: defaulted } = mini;

describe.each([
  [
    'zod',
    z.object({ caught: z.boolean().catch(false), own: z.boolean().default(true).catch(false) }),
  ],
  [
    'zod/mini',
    withJsonSchema(
      mini.object({
        caught: mini.catch(mini.boolean(), false),
        own: mini.catch(defaulted(mini.boolean(), true), false),
      }),
      mini.toJSONSchema,
    ),
  ],
  [
    'zod with a function of the error',
    z.object({
      caught: z.boolean().catch(({ error }) => error.issues.length === 0),
      own: z
        .boolean()
        .default(true)
        .catch(({ error }) => error.issues.length === 0),
    }),
  ],
  [
    'zod/mini with a function of the error',
    withJsonSchema(
      mini.object({
        caught: mini.catch(mini.boolean(), ({ error }) => error.issues.length === 0),
        own: mini.catch(defaulted(mini.boolean(), true), ({ error }) => error.issues.length === 0),
      }),
      mini.toJSONSchema,
    ),
  ],
])('a form of %s', (library, schema) => {
  it(`shows a caught field of ${library} as optional, and without a default`, () => {
    expect(toForm(schema)).toEqual({
      type: 'object',
      properties: { caught: { type: 'boolean' }, own: { type: 'boolean', default: true } },
    });
  });

  it(`shows no caught value of ${library} in an output`, () => {
    expect(toJsonSchema(schema, 'output')).toMatchObject({
      properties: { caught: { type: 'boolean' }, own: { type: 'boolean', default: true } },
      required: ['caught', 'own'],
    });
    expect(toJsonSchema(schema, 'output')['properties']).not.toHaveProperty('caught.default');
  });
});
