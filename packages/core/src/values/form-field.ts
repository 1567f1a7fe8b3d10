/**
 * Fields of a form, as a saga asks for them, and as a client receives them. They are types instead
 * of interfaces, because only a type is assignable to JSON. The lists are not readonly, because
 * those of the MCP SDKs are not; do not change them, since questions share a form.
 */

type Label = { readonly title?: string; readonly description?: string };
type FieldOption = { readonly const: string; readonly title: string };

/** Line of text. */
export type TextField = Label & {
  readonly type: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly default?: string;
};

/** Choice of one string. The user sees `enumNames`. */
export type EnumField = Label & {
  readonly type: 'string';
  readonly enum: string[];
  readonly enumNames?: string[];
  readonly default?: string;
};

/** Choice of one string, each with a title for the user. */
export type ChoiceField = Label & {
  readonly type: 'string';
  readonly oneOf: FieldOption[];
  readonly default?: string;
};

type Many = Label & {
  readonly type: 'array';
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: string[];
};

/** Choice of several strings. */
export type EnumsField = Many & {
  readonly items: { readonly type: 'string'; readonly enum: string[] };
};

/** Choice of several strings, each with a title for the user. */
export type ChoicesField = Many & { readonly items: { readonly anyOf: FieldOption[] } };

/** Number. */
export type NumberField = Label & {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
};

/** Yes or no. */
export type BooleanField = Label & { readonly type: 'boolean'; readonly default?: boolean };

/**
 * Field of a form: MCP's flat subset of JSON Schema (`PrimitiveSchemaDefinition`), in the
 * specifications 2025-11-25 and 2026-07-28.
 */
export type FormField =
  | TextField
  | EnumField
  | ChoiceField
  | EnumsField
  | ChoicesField
  | NumberField
  | BooleanField;
