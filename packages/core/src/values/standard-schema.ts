import { writeZod, type ZodOptions } from './caught-fields.ts';
import { AuthoringError } from './errors.ts';
import { assertJson, formatPlace, isJsonObject, type Json, type Place } from './json.ts';

/** Place in the input, in the form of Standard Schema v1: plain keys or `{key}`. */
type IssuePath = readonly (PropertyKey | { readonly key: PropertyKey })[];

/** An issue of a value, in the form of Standard Schema v1. */
export interface Issue {
  readonly message: string;
  readonly path?: IssuePath | undefined;
}

/** Result of `validate` of a Standard Schema: the parsed value, or the issues. */
export type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** Options of Standard JSON Schema. */
interface ConverterOptions {
  readonly target: string;
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/**
 * The Standard JSON Schema extension, which writes a schema as JSON Schema. May throw for types
 * that JSON lacks.
 */
export interface JsonSchemaConverter {
  readonly input: (options: ConverterOptions) => Record<string, unknown>;
  readonly output: (options: ConverterOptions) => Record<string, unknown>;
}

/**
 * A Standard Schema v1 (https://standardschema.dev), as of zod 4.2. Forms and tool listings need
 * `jsonSchema`.
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (
      value: unknown,
    ) => ValidationResult<Output> | Promise<ValidationResult<Output>>;
    readonly jsonSchema?: JsonSchemaConverter | undefined;
  };
}

/**
 * Type beside a schema in options: reports fields without `z.object`, the form of the first MCP
 * SDK. Has no values.
 */
export interface LooseFields {
  readonly '~standard': never;
  readonly [name: string]: 'Wrap the fields in z.object({ … })';
}

/** Input type of a schema. */
export type InferInput<S extends Schema> = NonNullable<S['~standard']['types']>['input'];

/** Output type of a schema: defaults filled in, transforms applied. */
export type InferOutput<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/**
 * A parsed value; or the issues in one line, and the names of the fields of the value that they are
 * about.
 */
export type Validated<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: string; readonly fields: readonly string[] };

/** Maximum number of reported issues: a hostile value must not cause a long answer. */
const MAX_ISSUES = 8;
const MAX_MESSAGE = 200;

/**
 * Parses `value`. On failure, `issues` is one line for the wire with paths and messages of the
 * schema, such as `target: expected string; n: Too big: expected number to be <=3`. A message that
 * quotes the text or number at its path becomes `is not valid`. Throws errors of the schema.
 */
export async function validate<Output>(
  schema: Schema<unknown, Output>,
  value: unknown,
): Promise<Validated<Output>> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  const told = result.issues.slice(0, MAX_ISSUES).map((issue) => formatIssue(issue, value));
  const rest = result.issues.length - told.length;
  const issues = rest > 0 ? `${told.join('; ')}; and ${rest} more` : told.join('; ');
  const fields = result.issues.flatMap(({ path }) => path?.slice(0, 1).map(keyOf) ?? []);
  return { ok: false, issues, fields: fields.map(String) };
}

function keyOf(segment: IssuePath[number]): PropertyKey {
  return typeof segment === 'object' ? segment.key : segment;
}

/** Options for a function that writes a schema as JSON Schema, under the names of all libraries. */
export interface JsonSchemaOptions {
  /** `input` for unparsed values, `output` for parsed values: the name of zod. */
  readonly io: 'input' | 'output';
  /** The same, under the name of valibot. */
  readonly typeMode: 'input' | 'output';
  /** Version of JSON Schema. */
  readonly target: 'draft-2020-12';
  /** For zod only: corrects what it writes about `.catch`. */
  readonly override?: ZodOptions['override'];
  /** For zod only: accepts a `.catch` whose value is not known before a call. */
  readonly unrepresentable?: NonNullable<ZodOptions['unrepresentable']>;
}

/**
 * Adds JSON Schema to a schema whose library writes it by a separate function, such as zod/mini and
 * valibot. Forms and tool listings need it.
 * @param write - the function of the library
 * @example
 * ```ts
 * import { withJsonSchema } from '@mcp-saga/server';
 * import * as z from 'zod/mini';
 *
 * const Sure = withJsonSchema(z.object({ sure: z.boolean() }), z.toJSONSchema);
 * ```
 */
export function withJsonSchema<S extends Schema>(
  schema: S,
  write: (schema: S, options: JsonSchemaOptions) => object,
): S {
  const written = (io: 'input' | 'output') => (): Record<string, unknown> => ({
    ...forVendor(schema, io, (options) => write(schema, optionsFor(io, options))),
  });
  const standard = {
    ...schema['~standard'],
    jsonSchema: { input: written('input'), output: written('output') },
  };
  // Inherits the rest: version 1 of the SDK knows a schema of zod by its other members.
  return Object.create(schema, { '~standard': { value: standard, enumerable: true } }) as S;
}

function optionsFor(io: 'input' | 'output', more: Partial<ZodOptions>): JsonSchemaOptions {
  return { io, typeMode: io, target: 'draft-2020-12', ...more };
}

/** Writes a schema with options that only its library knows. Other libraries may refuse them. */
function forVendor(
  { '~standard': { vendor } }: Schema,
  io: 'input' | 'output',
  write: (options: Partial<ZodOptions>) => object,
): object {
  return vendor === 'zod' ? writeZod(io, write) : write({});
}

/**
 * Writes a schema as a new JSON Schema (draft 2020-12), without `$schema`. `direction`: `input` for
 * unparsed values, `output` for parsed values. Throws AuthoringError with advice if the library has
 * no JSON Schema or the schema has types that JSON lacks.
 */
export function toJsonSchema(schema: Schema, direction: 'input' | 'output'): Record<string, Json> {
  const { vendor } = schema['~standard'];
  const write = writerOf(schema, direction);
  if (write === undefined) {
    throw new AuthoringError(
      `a schema of '${vendor}' cannot be written as JSON Schema: wrap it in withJsonSchema(schema, ` +
        'toJSONSchema), with the function of its library. zod 4.2 or later and arktype need no wrapper',
      { anchor: 'forms' },
    );
  }
  let written: unknown;
  try {
    // Through text: the schema of a library may contain `undefined` and shared objects.
    written = JSON.parse(JSON.stringify(write()));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'the schema library refused';
    throw new AuthoringError(
      `the ${direction} schema cannot be written as JSON Schema (${reason}): use types that JSON has, ` +
        `such as z.iso.date() for a date`,
      { anchor: 'forms', cause },
    );
  }
  assertJson(written, { where: 'schema' });
  if (!isJsonObject(written))
    throw new AuthoringError(`the ${direction} schema of '${vendor}' is not a JSON Schema object`, {
      anchor: 'forms',
    });
  return Object.fromEntries(Object.entries(written).filter(([key]) => key !== '$schema'));
}

/** Methods that schemas of libraries without Standard JSON Schema may have. */
interface Writers {
  readonly toJSONSchema?: (options: JsonSchemaOptions) => object;
  readonly toJsonSchema?: (options: JsonSchemaOptions) => object;
}

/** Returns what writes a schema: Standard JSON Schema, or a method of the schema. */
function writerOf(schema: Schema, io: 'input' | 'output'): (() => object) | undefined {
  const { jsonSchema } = schema['~standard'];
  if (typeof jsonSchema?.[io] === 'function')
    return () =>
      forVendor(schema, io, (options) =>
        jsonSchema[io]({ target: 'draft-2020-12', libraryOptions: { ...options } }),
      );
  const { toJSONSchema, toJsonSchema: other } = schema as Writers;
  const method = toJSONSchema ?? other;
  return typeof method === 'function'
    ? () => forVendor(schema, io, (options) => method.call(schema, optionsFor(io, options)))
    : undefined;
}

function formatIssue(issue: Issue, root: unknown): string {
  let place: Place | undefined;
  let value = root;
  for (const segment of issue.path ?? []) {
    const key = keyOf(segment);
    place = { parent: place, key: typeof key === 'number' ? key : String(key) };
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  const path = formatPlace('', place);
  // zod writes 'Invalid input: expected string, received number'. The received type reveals part of
  // the value.
  const message = issue.message.replace(/^Invalid input: /, '').replace(/, received \w+$/, '');
  const told = quotes(message, value) ? 'is not valid' : message.slice(0, MAX_MESSAGE);
  return path === '' ? told : `${path}: ${told}`;
}

function quotes(message: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return false;
  const text = String(value);
  // A short text must match a whole word: '1' is no quotation in 'expected at least 10'.
  if (text.length <= 5 && !/\W/.test(text))
    return text !== '' && message.split(/\W+/).includes(text);
  return message.includes(text);
}
