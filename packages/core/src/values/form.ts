import { AuthoringError } from './errors.ts';
import { formatPlace, isJsonObject, type Json } from './json.ts';
import { toJsonSchema, type Schema } from './standard-schema.ts';

type Label = { readonly title?: string; readonly description?: string };
type Choice = { readonly const: string; readonly title: string };

export type StringField = Label & {
  readonly type: 'string';
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: string;
};

export type NumberField = Label & {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
};

export type BooleanField = Label & { readonly type: 'boolean'; readonly default?: boolean };

/**
 * A choice of one option: plain, with `enumNames` (older form of MCP), or with a title for each.
 */
export type ChoiceField = Label & {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly Choice[];
  readonly default?: string;
};

/** A choice of several options. */
export type ChoicesField = Label & {
  readonly type: 'array';
  readonly items:
    | { readonly type: 'string'; readonly enum: readonly string[] }
    | { readonly anyOf: readonly Choice[] };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
};

/**
 * One field of a form: MCP's `PrimitiveSchemaDefinition`, specifications 2025-11-25 and 2026-07-28.
 */
export type FormField = StringField | NumberField | BooleanField | ChoiceField | ChoicesField;

/** The `requestedSchema` of an elicitation: a flat object of fields. */
export type FormSchema = {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: FormField };
  readonly required?: readonly string[];
};

type JsonObject = { readonly [key: string]: Json };

const forms = new WeakMap<Schema, FormSchema>();

/** Maximum number of references to follow. A longer chain is a cycle. */
const MAX_HOPS = 16;

const ALLOWED =
  'a form has only fields of text, number, integer, boolean, one of several texts (z.enum), ' +
  'or a list of such choices (z.array(z.enum([…])))';

/**
 * Converts the schema of an answer to a form, once per schema: do not change the result. Omits
 * constraints that MCP lacks: the schema checks the answer. Throws AuthoringError with the path of
 * an unsupported field.
 */
export function toForm(schema: Schema): FormSchema {
  const known = forms.get(schema);
  if (known !== undefined) return known;
  const form = buildForm(toJsonSchema(schema, 'input'));
  forms.set(schema, form);
  return form;
}

function buildForm(written: JsonObject): FormSchema {
  const root = resolve(written, written, '');
  if (root['type'] !== 'object') throw refusal('', 'is not an object: wrap it in z.object({…})');
  const others = root['additionalProperties'];
  if (isJsonObject(others) && Object.keys(others).length > 0) {
    throw refusal('', 'has properties without fixed names: name each of them');
  }
  const required = isTexts(root['required']) ? root['required'] : [];
  const fields = isJsonObject(root['properties']) ? root['properties'] : {};
  const properties = Object.entries(fields).map(([name, property]): [string, FormField] => {
    const path = formatPlace('', { parent: undefined, key: name });
    const field = withoutNull(resolve(property, written, path), required.includes(name), path);
    return [name, toField(field, written, path)];
  });
  const form: FormSchema = { type: 'object', properties: Object.fromEntries(properties) };
  return required.length === 0 ? form : { ...form, required };
}

function toField(field: JsonObject, root: JsonObject, path: string): FormField {
  const choices = choicesOf(field);
  if (choices !== undefined) return toChoiceField(field, choices);
  refuseCombination(field, path);
  const { type } = field;
  if (type === 'boolean') return { type, ...labelOf(field), ...pick(field, 'default', isBoolean) };
  if (type === 'array') {
    const itemPath = `${path}[]`;
    const items = choicesOf(resolve(field['items'], root, itemPath));
    if (items === undefined) throw refusal(itemPath, 'is not one of several texts');
    return toChoicesField(field, items);
  }
  if (type === 'object') throw refusal(path, 'is an object inside the form');
  if (type !== 'string' && type !== 'number' && type !== 'integer') {
    throw refusal(path, 'is not of one type that a form can show');
  }
  if ('enum' in field || 'const' in field)
    throw refusal(path, 'is a choice of something else than texts');
  return type === 'string' ? toStringField(field) : toNumberField(field, type);
}

function toStringField(field: JsonObject): StringField {
  return {
    type: 'string',
    ...labelOf(field),
    ...pick(field, 'format', isFormat),
    ...pick(field, 'minLength', isNumber),
    ...pick(field, 'maxLength', isNumber),
    ...pick(field, 'default', isText),
  };
}

function toNumberField(field: JsonObject, type: 'number' | 'integer'): NumberField {
  // Forms have no exclusive bounds. The next integer is equivalent; for other numbers, the bound is
  // the closest.
  const step = type === 'integer' ? 1 : 0;
  const bound = (key: string, none: number): number => (isNumber(field[key]) ? field[key] : none);
  const minimum = Math.max(
    bound('minimum', -Infinity),
    bound('exclusiveMinimum', -Infinity) + step,
  );
  const maximum = Math.min(bound('maximum', Infinity), bound('exclusiveMaximum', Infinity) - step);
  // zod writes the safe integers as the bounds of every integer: noise for the user.
  return {
    type,
    ...labelOf(field),
    ...(Number.isFinite(minimum) && minimum !== Number.MIN_SAFE_INTEGER ? { minimum } : {}),
    ...(Number.isFinite(maximum) && maximum !== Number.MAX_SAFE_INTEGER ? { maximum } : {}),
    ...pick(field, 'default', isNumber),
  };
}

function toChoiceField(field: JsonObject, choices: readonly Option[]): ChoiceField {
  const titled = toTitled(choices);
  return {
    type: 'string',
    ...labelOf(field),
    ...(titled === undefined ? { enum: choices.map((choice) => choice.const) } : { oneOf: titled }),
    ...(titled === undefined ? pick(field, 'enumNames', isTexts) : {}),
    ...pick(field, 'default', isText),
  };
}

function toChoicesField(field: JsonObject, choices: readonly Option[]): ChoicesField {
  const titled = toTitled(choices);
  return {
    type: 'array',
    ...labelOf(field),
    ...pick(field, 'minItems', isNumber),
    ...pick(field, 'maxItems', isNumber),
    items:
      titled === undefined
        ? { type: 'string', enum: choices.map((choice) => choice.const) }
        : { anyOf: titled },
    ...pick(field, 'default', isTexts),
  };
}

type Option = { readonly const: string; readonly title: string | undefined };

/** Texts to choose from, written as `enum`, `const`, or a union. */
function choicesOf(field: JsonObject): readonly Option[] | undefined {
  const union = field['anyOf'] ?? field['oneOf'];
  if (isList(union)) {
    const members = union.map((member) => (isJsonObject(member) ? choicesOf(member) : undefined));
    return members.length > 0 && members.every((member) => member !== undefined)
      ? members.flat()
      : undefined;
  }
  const title = isText(field['title']) ? field['title'] : undefined;
  if (isText(field['const'])) return [{ const: field['const'], title }];
  if (!isTexts(field['enum'])) return undefined;
  return field['enum'].map((text) => ({ const: text, title: undefined }));
}

function toTitled(options: readonly Option[]): readonly Choice[] | undefined {
  // A single option is a literal: the title belongs to the field.
  if (options.length < 2 || options.every((option) => option.title === undefined)) return undefined;
  return options.map((option) => ({ const: option.const, title: option.title ?? option.const }));
}

/** Removes null, which a form cannot express. The user can omit an optional field. */
function withoutNull(field: JsonObject, required: boolean, path: string): JsonObject {
  const { type, anyOf, ...rest } = field;
  const types = isList(type) ? type : [];
  const union = isList(anyOf) ? anyOf : [];
  if (!types.includes('null') && !union.some(isNull)) return field;
  if (required) throw refusal(path, 'may be null: make it optional instead');
  const [only, ...others] = types.filter((name) => name !== 'null');
  if (only !== undefined) return { ...field, type: others.length === 0 ? only : [only, ...others] };
  const members = union.filter((member) => !isNull(member));
  const [member] = members;
  return members.length === 1 && isJsonObject(member)
    ? { ...member, ...rest }
    : { ...field, anyOf: members };
}

function isNull(member: Json): boolean {
  return isJsonObject(member) && member['type'] === 'null';
}

/** Follows references within the schema, of the node and of the members of a union. */
function resolve(
  node: Json | undefined,
  root: JsonObject,
  path: string,
  hopsBefore = 0,
): JsonObject {
  let at = isJsonObject(node) ? node : {};
  let hops = hopsBefore;
  for (; isText(at['$ref']); hops++) {
    const { $ref: pointer, ...beside } = at;
    const target = hops < MAX_HOPS && isText(pointer) ? follow(pointer, root) : undefined;
    if (target === undefined) throw refusal(path, 'refers to itself, or to a schema outside');
    at = { ...target, ...beside };
  }
  for (const key of ['anyOf', 'oneOf']) {
    const union = at[key];
    if (isList(union))
      at = { ...at, [key]: union.map((member) => resolve(member, root, path, hops)) };
  }
  return at;
}

function follow(pointer: string, root: JsonObject): JsonObject | undefined {
  const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(pointer)?.[1];
  if (name === undefined) return undefined;
  const definitions = root['$defs'] ?? root['definitions'];
  const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
  const target =
    isJsonObject(definitions) && Object.hasOwn(definitions, key) ? definitions[key] : undefined;
  return isJsonObject(target) ? target : undefined;
}

function refuseCombination(field: JsonObject, path: string): void {
  for (const key of ['anyOf', 'oneOf', 'not', 'if']) {
    if (key in field) throw refusal(path, 'is a union of types, or depends on other fields');
  }
  if (isList(field['allOf']) && !field['allOf'].every(isPattern))
    throw refusal(path, 'is an intersection of types');
}

/**
 * `true` for a pattern of an `allOf`, as for several patterns on one text. The schema checks the
 * patterns.
 */
function isPattern(member: Json): boolean {
  return (
    isJsonObject(member) &&
    Object.keys(member).every((key) => key === 'pattern' || key === 'format')
  );
}

function refusal(path: string, problem: string): AuthoringError {
  return new AuthoringError(
    `${path === '' ? 'the form' : `the form field '${path}'`} ${problem}; ${ALLOWED}`,
  );
}

function labelOf(field: JsonObject): Label {
  return { ...pick(field, 'title', isText), ...pick(field, 'description', isText) };
}

/**
 * The keyword, if of the type that forms allow: a client may refuse the whole form for an unknown
 * keyword.
 */
function pick<K extends string, T extends Json>(
  field: JsonObject,
  key: K,
  allowed: (value: Json | undefined) => value is T,
): { readonly [key in K]?: T } {
  const value = field[key];
  const picked: { [key in K]?: T } = {};
  if (allowed(value)) picked[key] = value;
  return picked;
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string';
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === 'number';
}

function isBoolean(value: Json | undefined): value is boolean {
  return typeof value === 'boolean';
}

function isFormat(value: Json | undefined): value is 'email' | 'uri' | 'date' | 'date-time' {
  return value === 'email' || value === 'uri' || value === 'date' || value === 'date-time';
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return isList(value) && value.every(isText);
}
