import { AuthoringError } from './errors.ts';
import { assertJson, formatPlace, isJsonObject, type Json, type Place } from './json.ts';

/** A place in the input, as Standard Schema v1 names it: plain keys or `{key}`. */
type IssuePath = readonly (PropertyKey | { readonly key: PropertyKey })[];

/** What was wrong with a value, as Standard Schema v1 says it. */
export interface Issue {
  readonly message: string;
  readonly path?: IssuePath | undefined;
}

/** What a Standard Schema's `validate` gives: the parsed value, or what was wrong. */
export type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The Standard JSON Schema extension: how a schema is written as JSON Schema. May throw for what JSON lacks. */
export interface JsonSchemaConverter {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  readonly output: (options: { readonly target: string }) => Record<string, unknown>;
}

/**
 * A Standard Schema v1 (https://standardschema.dev) with its JSON Schema extension, as of zod 4.2. Without `jsonSchema`, it makes
 * no form and no tool listing.
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => ValidationResult<Output> | Promise<ValidationResult<Output>>;
    readonly jsonSchema?: JsonSchemaConverter | undefined;
  };
}

/** Beside a schema in options, for the error of authors who give fields, as the first MCP SDK took them. Has no values. */
export interface LooseFields {
  readonly '~standard': never;
  readonly [name: string]: 'Wrap the fields in z.object({ … })';
}

/** What a schema accepts. */
export type InferInput<S extends Schema> = NonNullable<S['~standard']['types']>['input'];

/** What a schema gives after parsing: defaults filled in, transforms applied. */
export type InferOutput<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** A parsed value, or one line that says what is wrong with it. */
export type Validated<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: string };

/** At most so many issues are told: a hostile value must not buy a long answer. */
const MAX_ISSUES = 8;
const MAX_MESSAGE = 200;

/**
 * Parses `value`. On failure `issues` is one line for the wire, such as `target: expected string; n: Too big: expected
 * number to be <=3`: paths and the messages of the schema. The value itself is not in it: a message that quotes the
 * text or number at its path is replaced by `is not valid`.
 *
 * @throws what the schema throws
 */
export async function validate<Output>(
  schema: Schema<unknown, Output>,
  value: unknown,
): Promise<Validated<Output>> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  const told = result.issues.slice(0, MAX_ISSUES).map((issue) => formatIssue(issue, value));
  const rest = result.issues.length - told.length;
  return { ok: false, issues: rest > 0 ? `${told.join('; ')}; and ${rest} more` : told.join('; ') };
}

/**
 * Writes a schema as JSON Schema (draft 2020-12), without `$schema`. A copy: the caller may keep and change it.
 *
 * @param direction `input` for what is sent in, `output` for what parsing gives
 * @throws AuthoringError that says what to do, when the library has no JSON Schema or the schema has types JSON lacks
 */
export function toJsonSchema(schema: Schema, direction: 'input' | 'output'): Record<string, Json> {
  const { jsonSchema, vendor } = schema['~standard'];
  if (typeof jsonSchema?.[direction] !== 'function') {
    throw new AuthoringError(
      `a schema of '${vendor}' cannot be written as JSON Schema: use zod 4.2 or later (not zod/mini), ` +
        `or a library with ~standard.jsonSchema (Standard JSON Schema)`,
    );
  }
  let written: unknown;
  try {
    // Through text, because libraries may leave `undefined` and shared objects in it.
    written = JSON.parse(JSON.stringify(jsonSchema[direction]({ target: 'draft-2020-12' })));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'the schema library refused';
    throw new AuthoringError(
      `the ${direction} schema cannot be written as JSON Schema (${reason}): use types that JSON has, ` +
        `such as z.iso.date() for a date`,
      { cause },
    );
  }
  assertJson(written, { where: 'schema' });
  if (!isJsonObject(written))
    throw new AuthoringError(`the ${direction} schema of '${vendor}' is not a JSON Schema object`);
  return Object.fromEntries(Object.entries(written).filter(([key]) => key !== '$schema'));
}

function formatIssue(issue: Issue, root: unknown): string {
  let place: Place | undefined;
  let value = root;
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment;
    place = { parent: place, key: typeof key === 'number' ? key : String(key) };
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  const path = formatPlace('', place);
  // zod says 'Invalid input: expected string, received number'; what was received is half of the value.
  const message = issue.message.replace(/^Invalid input: /, '').replace(/, received \w+$/, '');
  const told = quotes(message, value) ? 'is not valid' : message.slice(0, MAX_MESSAGE);
  return path === '' ? told : `${path}: ${told}`;
}

function quotes(message: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return false;
  const text = String(value);
  // A short word is looked for as a word: '1' is no quotation in 'expected at least 10'.
  if (text.length <= 5 && !/\W/.test(text)) return text !== '' && message.split(/\W+/).includes(text);
  return message.includes(text);
}
