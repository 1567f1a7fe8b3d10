import { AuthoringError } from './errors.ts';
import { formatPlace, isJsonObject, isSameJson, isTexts, type Json } from './json.ts';
import type {
  ChoiceField,
  ChoicesField,
  EnumField,
  EnumsField,
  FormField,
  NumberField,
  TextField,
} from './form-field.ts';
import { toJsonSchema, type Schema } from './standard-schema.ts';

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

/**
 * Form of a question, made once per schema. `of`: function that takes the schema. Throws
 * AuthoringError with the question and the path of a bad field.
 */
export function formOf(id: string, schema: Schema, of: string = 'elicit'): FormSchema {
  try {
    return toForm(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'its schema cannot be read';
    throw new AuthoringError(`${of}('${id}'): ${problem}`, { anchor: 'forms', cause: error });
  }
}

/**
 * The part of a form that decides what an answer means: the names, types, and choices of its
 * fields, in any order. Titles, descriptions, defaults, and bounds do not count: the schema checks
 * the answer, whichever form the user saw.
 */
export function identityOfForm({ properties }: FormSchema): Json {
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    field.type,
    ...(choicesOf(field.type === 'array' ? field.items : field) ?? [])
      .map((option) => option.const)
      .toSorted(),
  ]);
  return fields.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1));
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
  const unknown = required.find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw unanswerable(unknown, 'is required, but has no schema');
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
  if (choices !== undefined) return toChoiceField(field, choices, path);
  refuseCombination(field, path);
  const { type } = field;
  if (type === 'boolean') return { type, ...labelOf(field), ...pick(field, 'default', isBoolean) };
  if (type === 'array') {
    const itemPath = `${path}[]`;
    const item = resolve(field['items'], root, itemPath);
    const items = choicesOf(item);
    if (items === undefined) {
      refuseCombination(item, itemPath);
      throw refusal(itemPath, 'is not one of several texts');
    }
    return toChoicesField(field, items, path);
  }
  if (type === 'object') throw refusal(path, 'is an object inside the form');
  if (type !== 'string' && type !== 'number' && type !== 'integer') {
    throw refusal(path, 'is not of one type that a form can show');
  }
  if ('enum' in field || 'const' in field)
    throw refusal(path, 'is a choice of something else than texts');
  return type === 'string' ? toStringField(field, path) : toNumberField(field, type, path);
}

function toStringField(field: JsonObject, path: string): TextField {
  if (field['contentEncoding'] === 'binary')
    throw unanswerable(path, 'is a file, which no client can send: ask for a link to it');
  const lengths = {
    ...pick(field, 'minLength', isNumber),
    ...pick(field, 'maxLength', isNumber),
  };
  assertRange(path, lengths.minLength, lengths.maxLength);
  return {
    type: 'string',
    ...labelOf(field),
    ...pick(field, 'format', isFormat),
    ...lengths,
    ...pick(field, 'default', isText),
  };
}

/** Refuses a field with bounds that no value fits. A bound may be missing. */
function assertRange(path: string, least: number | undefined, most: number | undefined): void {
  if (least === undefined || most === undefined || least <= most) return;
  throw unanswerable(path, `accepts no value: at least ${least}, and at most ${most}`);
}

function toNumberField(field: JsonObject, type: 'number' | 'integer', path: string): NumberField {
  // Forms have no exclusive bounds. The next integer is equivalent; for other numbers, the bound is
  // the closest.
  const step = type === 'integer' ? 1 : 0;
  const bound = (key: string, none: number): number => (isNumber(field[key]) ? field[key] : none);
  const minimum = Math.max(
    bound('minimum', -Infinity),
    bound('exclusiveMinimum', -Infinity) + step,
  );
  const maximum = Math.min(bound('maximum', Infinity), bound('exclusiveMaximum', Infinity) - step);
  if (type === 'integer') assertRange(path, Math.ceil(minimum), Math.floor(maximum));
  else assertRange(path, minimum, maximum);
  // zod writes the safe integers as the bounds of every integer: noise for the user.
  return {
    type,
    ...labelOf(field),
    ...(Number.isFinite(minimum) && minimum !== Number.MIN_SAFE_INTEGER ? { minimum } : {}),
    ...(Number.isFinite(maximum) && maximum !== Number.MAX_SAFE_INTEGER ? { maximum } : {}),
    ...pick(field, 'default', isNumber),
  };
}

function toChoiceField(field: JsonObject, choices: Choices, path: string): ChoiceField | EnumField {
  const options = distinct(choices, path);
  const common = { type: 'string', ...labelOf(field) } as const;
  const chosen = pick(field, 'default', isText);
  const titled = toTitled(options);
  if (titled !== undefined) return { ...common, oneOf: titled, ...chosen };
  const { enumNames } = pick(field, 'enumNames', isTextList);
  return {
    ...common,
    enum: options.map((option) => option.const),
    // A name for each option, or no names.
    ...(enumNames?.length === options.length ? { enumNames } : {}),
    ...chosen,
  };
}

function toChoicesField(
  field: JsonObject,
  choices: Choices,
  path: string,
): ChoicesField | EnumsField {
  const options = distinct(choices, path);
  const counts = { ...pick(field, 'minItems', isNumber), ...pick(field, 'maxItems', isNumber) };
  const { minItems, maxItems } = counts;
  assertRange(path, minItems, field['uniqueItems'] === true ? options.length : maxItems);
  const common = { type: 'array', ...labelOf(field), ...counts } as const;
  const chosen = pick(field, 'default', isTextList);
  const titled = toTitled(options);
  return titled === undefined
    ? {
        ...common,
        items: { type: 'string', enum: options.map((option) => option.const) },
        ...chosen,
      }
    : { ...common, items: { anyOf: titled }, ...chosen };
}

type Option = { readonly const: string; readonly title: string | undefined };

type Choices = readonly Option[];

/**
 * Texts to choose from, written as `enum`, `const`, or a union. The title of a `const` outside of a
 * union belongs to its field.
 */
function choicesOf(field: JsonObject): Choices | undefined {
  const union = field['anyOf'] ?? field['oneOf'];
  if (!isList(union)) return isText(field['const']) ? [optionOf(field['const'])] : enumOf(field);
  const members = union.map((member) => {
    if (!isJsonObject(member)) return undefined;
    const { const: value, title } = member;
    return isText(value) ? [optionOf(value, isText(title) ? title : undefined)] : choicesOf(member);
  });
  return members.every((member) => member !== undefined) ? members.flat() : undefined;
}

function enumOf({ enum: values }: JsonObject): Choices | undefined {
  return isTexts(values) ? values.map((value) => optionOf(value)) : undefined;
}

function optionOf(value: string, title?: string): Option {
  return { const: value, title };
}

/** Returns each option once, because MCP shows a repeated option twice. Refuses an empty list. */
function distinct(choices: Choices, path: string): Choices {
  if (choices.length === 0) throw unanswerable(path, noChoices);
  return [...new Map(choices.map((option) => [option.const, option])).values()];
}

function toTitled(options: Choices): ChoiceField['oneOf'] | undefined {
  if (options.every((option) => option.title === undefined)) return undefined;
  return options.map((option) => ({ const: option.const, title: option.title ?? option.const }));
}

/**
 * Removes null and absence, which a form cannot express. The user can leave out an optional field.
 */
function withoutNull(field: JsonObject, required: boolean, path: string): JsonObject {
  const { type, anyOf, enum: values, ...rest } = field;
  const types = isList(type) ? type : [];
  const union = isList(anyOf) ? anyOf : [];
  const choices = isList(values) ? values : [];
  const mayBeNull = types.includes('null') || choices.includes(null) || union.some(isNull);
  if (required) {
    if (mayBeNull) throw refusal(path, 'may be null: make it optional instead');
    return field;
  }
  const [only, ...others] = types.filter((name) => name !== 'null');
  // Some libraries write an empty schema for `undefined`.
  const members = union.filter((member) => !isNull(member) && !isEmpty(member));
  const [member, ...more] = members;
  const own = {
    ...rest,
    ...(type === undefined
      ? {}
      : { type: others.length === 0 ? (only ?? type) : [only, ...others] }),
    ...(values === undefined ? {} : { enum: choices.filter((value) => value !== null) }),
  } as JsonObject;
  if (members.length === union.length) return anyOf === undefined ? own : { ...own, anyOf };
  return more.length === 0 && isJsonObject(member)
    ? { ...member, ...own }
    : { ...own, anyOf: members };
}

function isNull(member: Json): boolean {
  return isJsonObject(member) && (member['type'] === 'null' || member['const'] === null);
}

function isEmpty(member: Json): boolean {
  return isJsonObject(member) && Object.keys(member).length === 0;
}

/**
 * Follows references within the schema, of the node, of the members of a union, and of the members
 * of an intersection, which become one schema.
 */
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
  const { allOf, ...own } = at;
  if (!isList(allOf)) return at;
  const members = allOf.map((member) => resolve(member, root, path, hops));
  return members.reduce((all, member) => intersected(all, member, path), own);
}

const tighter: { readonly [keyword: string]: (one: number, other: number) => number } = {
  minLength: Math.max,
  minItems: Math.max,
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  maxLength: Math.min,
  maxItems: Math.min,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
};

/** Keywords that decide the kind of a field. Two different values are no field. */
const deciding = new Set(['type', 'enum', 'const', 'anyOf', 'oneOf', 'items', 'not', 'if']);

/** Combines two schemas that a value must both meet. */
function intersected(one: JsonObject, other: JsonObject, path: string): JsonObject {
  const all: Record<string, Json> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const known = all[key];
    const bound = Object.hasOwn(tighter, key) ? tighter[key] : undefined;
    if (known === undefined) all[key] = value;
    else if (bound !== undefined && isNumber(known) && isNumber(value))
      all[key] = bound(known, value);
    else if (key === 'properties' && isJsonObject(known) && isJsonObject(value))
      all[key] = bothFields(known, value);
    else if (key === 'required' && isTexts(known) && isTexts(value))
      all[key] = [...new Set([...known, ...value])];
    else if (deciding.has(key) && !isSameJson(known, value))
      throw refusal(path, 'is an intersection of types');
    // Of other keywords, such as titles and patterns, forms show the first: the schema checks all.
  }
  return all;
}

function bothFields(one: JsonObject, other: JsonObject): JsonObject {
  const shared = Object.keys(other).filter((name) => Object.hasOwn(one, name));
  const both = shared.map((name): [string, Json] => [
    name,
    { allOf: [one[name] ?? {}, other[name] ?? {}] },
  ]);
  return Object.fromEntries([...Object.entries(one), ...Object.entries(other), ...both]);
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
  const { not } = field;
  if (not !== undefined && isEmpty(not)) throw unanswerable(path, noChoices);
  for (const key of ['anyOf', 'oneOf', 'not', 'if']) {
    if (key in field) throw refusal(path, 'is a union of types, or depends on other fields');
  }
}

function refusal(path: string, problem: string): AuthoringError {
  return new AuthoringError(
    `${path === '' ? 'the form' : `the form field '${path}'`} ${problem}; ${ALLOWED}`,
    { anchor: 'forms' },
  );
}

const noChoices = 'accepts no value: ask only if there is something to choose';

/** Error for a form that no client can answer. It would be asked until the client gives up. */
function unanswerable(path: string, problem: string): AuthoringError {
  return new AuthoringError(`the form field '${path}' ${problem}.`, { anchor: 'forms' });
}

function labelOf(field: JsonObject): Pick<FormField, 'title' | 'description'> {
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

function isTextList(value: Json | undefined): value is string[] {
  return isTexts(value);
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
