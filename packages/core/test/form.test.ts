import { specTypeSchemas } from '@modelcontextprotocol/client';
import { ElicitRequestFormParamsSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { all, elicit, step } from '../src/index.ts';
import type { Program } from '../src/model/program.ts';
import { digestOfStep } from '../src/turn/turn-outcome.ts';
import { toForm } from '../src/values/form.ts';
import type { FormField } from '../src/values/form-field.ts';
import type { Json } from '../src/values/json.ts';
import type { Schema } from '../src/values/standard-schema.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';

function field(schema: z.ZodType): FormField | undefined {
  return toForm(z.object({ field: schema })).properties['field'];
}

const titled = z.union([
  z.literal('r').meta({ title: 'Red' }),
  z.literal('g').meta({ title: 'Green' }),
]);

const tree = z.object({
  name: z.string(),
  get child() {
    return tree.optional();
  },
});

describe('toForm', () => {
  it('[W1] writes the exact form of one required text', () => {
    expect(JSON.stringify(toForm(z.object({ target: z.string() })))).toBe(
      '{"type":"object","properties":{"target":{"type":"string"}},"required":["target"]}',
    );
  });

  it('[W1] converts a schema once', () => {
    const schema = z.object({ a: z.string() });
    const { jsonSchema } = schema['~standard'];
    let calls = 0;
    const counted: Schema = {
      '~standard': {
        ...schema['~standard'],
        jsonSchema: { ...jsonSchema, input: (o) => (calls++, jsonSchema.input(o)) },
      },
    };
    expect(toForm(counted)).toBe(toForm(counted));
    expect(calls).toBe(1);
  });

  it('[W1] is JSON by type', () => {
    const form: Json = toForm(z.object({}));
    expect(form).toEqual({ type: 'object', properties: {} });
  });

  it('[W1] leaves optional and defaulted fields out of required', () => {
    const form = toForm(
      z.object({ a: z.string().optional(), b: z.boolean().default(true), c: z.int().default(3) }),
    );
    expect(form).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'boolean', default: true },
        c: { type: 'integer', default: 3 },
      },
    });
  });

  it.each<[string, z.ZodType, object]>([
    [
      'title and description',
      z.string().meta({ title: 'T', description: 'D', extra: 1 }),
      { type: 'string', title: 'T', description: 'D' },
    ],
    ['lengths', z.string().min(1).max(9), { type: 'string', minLength: 1, maxLength: 9 }],
    ['an email without the pattern', z.email(), { type: 'string', format: 'email' }],
    ['a URL', z.url(), { type: 'string', format: 'uri' }],
    ['a date', z.iso.date(), { type: 'string', format: 'date' }],
    ['a date-time', z.iso.datetime(), { type: 'string', format: 'date-time' }],
    ['a format that forms lack', z.uuid(), { type: 'string' }],
    ['patterns', z.string().regex(/a/).regex(/b/), { type: 'string' }],
    ['an integer without the safe bounds', z.int(), { type: 'integer' }],
    ['a positive integer', z.int().positive(), { type: 'integer', minimum: 1 }],
    [
      'exclusive bounds',
      z.number().gt(1).lt(5).multipleOf(0.5),
      { type: 'number', minimum: 1, maximum: 5 },
    ],
    ['a number in bounds', z.number().min(1).max(5), { type: 'number', minimum: 1, maximum: 5 }],
    ['a box that must be ticked', z.literal(true), { type: 'boolean' }],
    ['the input of a transform', z.string().transform(Number), { type: 'string' }],
    [
      'an enum',
      z.enum(['a', 'b']).default('b'),
      { type: 'string', enum: ['a', 'b'], default: 'b' },
    ],
    ['literals', z.literal(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['one literal', z.literal('a'), { type: 'string', enum: ['a'] }],
    [
      'a union of enums',
      z.union([z.enum(['a', 'b']), z.literal('c')]),
      { type: 'string', enum: ['a', 'b', 'c'] },
    ],
    [
      'an enum with enumNames',
      z.enum(['a', 'b']).meta({ enumNames: ['A', 'B'] }),
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    ],
    [
      'a titled enum',
      titled,
      {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
    ],
    [
      'several of an enum',
      z
        .array(z.enum(['a', 'b']))
        .min(1)
        .max(2)
        .default(['a']),
      {
        type: 'array',
        minItems: 1,
        maxItems: 2,
        items: { type: 'string', enum: ['a', 'b'] },
        default: ['a'],
      },
    ],
    [
      'several of a titled enum',
      z.array(titled),
      {
        type: 'array',
        items: {
          anyOf: [
            { const: 'r', title: 'Red' },
            { const: 'g', title: 'Green' },
          ],
        },
      },
    ],
    [
      'a named schema',
      z.enum(['a']).meta({ id: 'FormTestNamed' }),
      { type: 'string', enum: ['a'] },
    ],
  ])('[W1] writes %s in the form that every SDK reads', (_what, schema, expected) => {
    expect(field(schema)).toEqual(expected);
    const params = { message: 'm', requestedSchema: toForm(z.object({ field: schema })) };
    expect(ElicitRequestFormParamsSchema.parse(params)).toEqual(params);
    expect(specTypeSchemas.ElicitRequestFormParams['~standard'].validate(params)).toEqual({
      value: params,
    });
  });

  it('[W1] treats null as absent for an optional field', () => {
    expect(field(z.string().nullish())).toEqual({ type: 'string' });
    expect(field(z.enum(['a', 'b']).nullish())).toEqual({ type: 'string', enum: ['a', 'b'] });
  });

  it.each<[string, z.ZodType, RegExp]>([
    [
      'an object inside',
      z.object({ address: z.object({ street: z.string() }) }),
      /'address' is an object inside/,
    ],
    [
      'a list of free texts',
      z.object({ tags: z.array(z.string()) }),
      /'tags\[\]' is not one of several texts/,
    ],
    [
      'a union of types',
      z.object({ a: z.union([z.email(), z.boolean()]) }),
      /'a' is a union of types/,
    ],
    [
      'a union of objects',
      z.object({ a: z.union([z.object({ b: z.string() }), z.string()]) }),
      /'a' is a union/,
    ],
    ['two types', z.object({ a: z.union([z.string(), z.number()]) }), /'a' is not of one type/],
    [
      'a choice of numbers',
      z.object({ a: z.literal([1, 2]) }),
      /'a' is a choice of something else than texts/,
    ],
    ['required null', z.object({ a: z.string().nullable() }), /'a' may be null: make it optional/],
    ['anything', z.object({ a: z.unknown() }), /'a' is not of one type/],
    [
      'a key that is not an identifier',
      z.object({ 'a b': z.object({}) }),
      /'\["a b"\]' is an object/,
    ],
    ['a form inside itself', tree, /'child' refers to itself/],
    ['a record', z.record(z.string(), z.string()), /the form has properties without fixed names/],
    ['a text as the whole', z.string(), /the form is not an object/],
    [
      'a union as the whole',
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      /the form is not an object/,
    ],
  ])('[W1] refuses %s with the path and the allowed types', (_what, schema, message) => {
    expect(() => toForm(schema)).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(() => toForm(schema)).toThrow(message);
    expect(() => toForm(schema)).toThrow('a form has only fields of text');
  });

  it('[W1] refuses a union that contains itself, without exhausting the stack', () => {
    const written = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } },
    };
    const schema: Schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => ({ value }),
        jsonSchema: { input: () => written, output: () => written },
      },
    };
    expect(() => toForm(schema)).toThrow(/'a' refers to itself/);
  });
});

describe('a question with a schema that is not a form', () => {
  const noForms: readonly [string, z.ZodType, string][] = [
    ['a text', z.string(), "elicit('q'): the form is not an object: wrap it in z.object({…})"],
    [
      'an object inside',
      z.object({ a: z.object({}) }),
      "elicit('q'): the form field 'a' is an object inside the form",
    ],
    [
      'a date',
      z.object({ at: z.date() }),
      "elicit('q'): the input schema cannot be written as JSON Schema",
    ],
  ];

  it.each(noForms)('[W1] is refused at its creation: %s', (_, schema, message) => {
    expect(() => elicit('q', { message: 'm', schema })).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => elicit('q', { message: 'm', schema })).toThrow(message);
    expect(() => elicit.outcome('q', { message: 'm', schema })).toThrow(message);
  });

  it('[W1] fails the saga before a parallel step runs', async () => {
    const done: string[] = [];
    const program = sagaOf(function* () {
      yield* all({
        charge: step('charge', () => void done.push('charge')),
        sure: elicit('sure', { message: 'Sure?', schema: z.boolean() as never }),
      });
      return 'done';
    });
    expect(failed(await start(program))).toMatchObject({ name: 'AuthoringError' });
    expect(done).toEqual([]);
  });
});

describe('the identity of a question', () => {
  const identityOf = async (params: { readonly [name: string]: Json }): Promise<string> =>
    await digestOfStep({ digest: (text) => text }, { type: 'elicitation', stepId: 'q', params });
  const asked = (schema: z.ZodType, message = 'Who?'): Promise<string> =>
    identityOf({ message, requestedSchema: toForm(schema) });
  const plain = z.object({ name: z.string(), size: z.enum(['s', 'm']) });

  it.each<[string, z.ZodType]>([
    [
      'labels',
      z.object({
        name: z.string().meta({ title: 'N', description: 'D' }),
        size: z.enum(['s', 'm']),
      }),
    ],
    [
      'a default',
      z.object({ name: z.string().default('x'), size: z.enum(['s', 'm']).default('s') }),
    ],
    ['bounds', z.object({ name: z.string().min(2).max(9), size: z.enum(['s', 'm']) })],
    ['an optional field', z.object({ name: z.string().optional(), size: z.enum(['s', 'm']) })],
    ['the order of fields and choices', z.object({ size: z.enum(['m', 's']), name: z.string() })],
    [
      'titles of choices',
      z.object({
        name: z.string(),
        size: z.union([z.literal('s').meta({ title: 'Small' }), z.literal('m')]),
      }),
    ],
    [
      'the older names of choices',
      z.object({ name: z.string(), size: z.enum(['s', 'm']).meta({ enumNames: ['S', 'M'] }) }),
    ],
  ])('[W4] is the same with %s', async (_, schema) => {
    expect(await asked(schema)).toBe(await asked(plain));
  });

  it.each<[string, z.ZodType]>([
    ['another name', z.object({ title: z.string(), size: z.enum(['s', 'm']) })],
    ['another type', z.object({ name: z.boolean(), size: z.enum(['s', 'm']) })],
    ['a format of choices', z.object({ name: z.string(), size: z.array(z.enum(['s', 'm'])) })],
    ['another choice', z.object({ name: z.string(), size: z.enum(['s', 'l']) })],
    ['another field', plain.extend({ sure: z.boolean() })],
  ])('[W4] differs with %s', async (_, schema) => {
    expect(await asked(schema)).not.toBe(await asked(plain));
  });

  it('[W4] differs with another message, and with other parameters', async () => {
    expect(await asked(plain, 'Who else?')).not.toBe(await asked(plain));
    expect(await identityOf({ mode: 'url', message: 'Pay', url: 'https://a.example' })).not.toBe(
      await identityOf({ mode: 'url', message: 'Pay', url: 'https://b.example' }),
    );
  });

  it('[W1] is read from each form once', async () => {
    let reads = 0;
    const form = toForm(plain);
    const counted = new Proxy(form, { get: (of, key) => (reads++, Reflect.get(of, key)) }) as Json;
    await identityOf({ message: 'One?', requestedSchema: counted });
    const once = reads;
    await identityOf({ message: 'Two?', requestedSchema: counted });
    expect([once > 0, reads]).toEqual([true, once]);
  });
});

describe('two releases that label a question in different ways', () => {
  it("[W4] [R5] take each other's answers", async () => {
    const released = (title: string): Program =>
      sagaOf(function* () {
        const schema = z.object({ n: z.int().meta({ title }).default(title.length) });
        const { n } = yield* elicit('q', { message: 'How many?', schema });
        const { m } = yield* elicit('r', { message: 'More?', schema: z.object({ m: z.int() }) });
        return `${n + m}`;
      });
    const first = suspended(await start(released('Number')));
    const second = suspended(await turn(released('Count'), first.state, { q: accepted({ n: 1 }) }));
    expect(second.steps.map(({ stepId }) => stepId)).toEqual(['r']);
    expect(completed(await turn(released('Number'), second.state, { r: accepted({ m: 2 }) }))).toBe(
      '3',
    );
  });
});

describe('a form with choices from a step', () => {
  it('[R1] may be made in the body, and accepts only the choices that the user saw', async () => {
    let found = ['small', 'large'];
    const program = sagaOf(function* () {
      const sizes = yield* step('sizes', () => found);
      const schema = z.object({ size: z.enum(sizes), extras: z.array(z.enum(sizes)).optional() });
      const { size } = yield* elicit('size', { message: 'Which size?', schema });
      return size;
    });
    const first = suspended(await start(program));
    expect(first.steps[0]?.params['requestedSchema']).toMatchObject({
      properties: { size: { enum: ['small', 'large'] } },
    });
    // The list has changed since, but not for this saga.
    found = ['medium'];
    const again = suspended(
      await turn(program, first.state, { size: accepted({ size: 'medium' }) }),
    );
    expect(again.steps[0]?.reason).toMatch(/^size: /);
    expect(completed(await turn(program, again.state, { size: accepted({ size: 'large' }) }))).toBe(
      'large',
    );
  });

  it('[W1] fails by name if there is nothing to choose', async () => {
    const program = sagaOf(function* () {
      const sizes = yield* step('sizes', (): string[] => []);
      yield* elicit('size', { message: 'Which?', schema: z.object({ size: z.enum(sizes) }) });
      return 'done';
    });
    const error = failed(await start(program)) as Error;
    expect(error).toMatchObject({ code: 'authoring_error' });
    expect(error.message).toMatch(/elicit\('size'\): the form field 'size'/);
  });
});
