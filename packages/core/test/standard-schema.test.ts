import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import {
  toJsonSchema,
  validate,
  type InferInput,
  type InferOutput,
  type Schema,
} from '../src/values/standard-schema.ts';

async function issues(schema: Schema, value: unknown): Promise<string> {
  const result = await validate(schema, value);
  if (result.ok) throw new Error('expected issues');
  return result.issues;
}

describe('validate', () => {
  it('[R2] returns the parsed value with its type', async () => {
    const schema = z.object({ n: z.coerce.number(), x: z.string().default('d') });
    const result = await validate(schema, { n: '5' });
    expect(result).toEqual({ ok: true, value: { n: 5, x: 'd' } });
    if (result.ok) expectTypeOf(result.value).toEqualTypeOf<{ n: number; x: string }>();
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ n: number; x: string }>();
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{
      n: unknown;
      x?: string | undefined;
    }>();
  });

  it('[W4] waits for a schema that validates asynchronously', async () => {
    const schema = z.string().refine((text) => Promise.resolve(text === 'a'), 'must be a');
    expect(await validate(schema, 'a')).toEqual({ ok: true, value: 'a' });
    expect(await issues(schema, 'b')).toBe('must be a');
  });

  it('[W4] names the paths and the expected types', async () => {
    const schema = z.object({
      target: z.string(),
      list: z.array(z.object({ n: z.number().max(3) })),
    });
    expect(await issues(schema, { target: 1, list: [{ n: 77 }] })).toBe(
      'target: expected string; list[0].n: Too big: expected number to be <=3',
    );
    expect(await issues(schema, 'text')).toBe('expected object');
  });

  it('[W4] understands paths of {key} segments', async () => {
    const schema: Schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({
          issues: [{ message: 'is wrong', path: [{ key: 'a' }, 0, Symbol('s')] }],
        }),
      },
    };
    expect(await issues(schema, {})).toBe('a[0]["Symbol(s)"]: is wrong');
  });

  it('[W4] does not repeat the value, even if the message of the schema does', async () => {
    const echo = {
      error: (issue: { input?: unknown }): string => `cannot use ${String(issue.input)} here`,
    };
    const schema = z.object({ pin: z.string().max(2, echo), n: z.number().max(2, echo) });
    expect(await issues(schema, { pin: 'hunter2', n: 42 })).toBe(
      'pin: is not valid; n: is not valid',
    );
  });

  it('[W4] keeps a message that contains a short value by coincidence', async () => {
    expect(await issues(z.string().min(10), '1')).toContain('>=10 characters');
  });

  it('[T11] limits messages about a hostile value', async () => {
    const wrong = Array.from({ length: 1000 }, () => 'x');
    expect(await issues(z.array(z.number()), wrong)).toMatch(
      /^(\[\d\]: expected number; ){8}and 992 more$/,
    );
    const keys = Object.fromEntries([['k'.repeat(100_000), 1]]);
    expect((await issues(z.strictObject({}), keys)).length).toBeLessThan(300);
  });
});

describe('toJsonSchema', () => {
  it('[R2] writes input and output without $schema', () => {
    const schema = z.object({ a: z.string().default('x') });
    expect(toJsonSchema(schema, 'input')).toEqual({
      type: 'object',
      properties: { a: { type: 'string', default: 'x' } },
    });
    expect(toJsonSchema(schema, 'output')).toEqual({
      type: 'object',
      properties: { a: { type: 'string', default: 'x' } },
      required: ['a'],
      additionalProperties: false,
    });
  });

  it('[R2] suggests a fix if the library has no JSON Schema', () => {
    const schema = mini.object({ a: mini.string() });
    expect(() => toJsonSchema(schema, 'input')).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => toJsonSchema(schema, 'input')).toThrow(/zod 4\.2 or later/);
  });

  it('[R2] suggests a fix if JSON has no such type', () => {
    expect(() => toJsonSchema(z.object({ d: z.date() }), 'input')).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => toJsonSchema(z.object({ d: z.date() }), 'input')).toThrow(/z\.iso\.date/);
  });
});
