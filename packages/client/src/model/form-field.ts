interface FieldBase {
  title?: string;
  description?: string;
}

/** Line of text. */
export interface TextField extends FieldBase {
  type: 'string';
  minLength?: number;
  maxLength?: number;
  format?: 'email' | 'uri' | 'date' | 'date-time';
  default?: string;
}

/** Choice of one string. The user sees `enumNames`. */
export interface EnumField extends FieldBase {
  type: 'string';
  enum: string[];
  enumNames?: string[];
  default?: string;
}

/** Choice of one string, each with a title for the user. */
export interface ChoiceField extends FieldBase {
  type: 'string';
  oneOf: { const: string; title: string }[];
  default?: string;
}

interface ManyBase extends FieldBase {
  type: 'array';
  minItems?: number;
  maxItems?: number;
  default?: string[];
}

/** Choice of several texts. */
export interface EnumsField extends ManyBase {
  items: { type: 'string'; enum: string[] };
}

/** Choice of several strings, each with a title for the user. */
export interface ChoicesField extends ManyBase {
  items: { anyOf: { const: string; title: string }[] };
}

/** Number. */
export interface NumberField extends FieldBase {
  type: 'number' | 'integer';
  minimum?: number;
  maximum?: number;
  default?: number;
}

/** Yes or no. */
export interface BooleanField extends FieldBase {
  type: 'boolean';
  default?: boolean;
}

/** Field of a form: MCP's flat subset of JSON Schema (`PrimitiveSchemaDefinition`). */
export type FormField =
  | TextField
  | EnumField
  | ChoiceField
  | EnumsField
  | ChoicesField
  | NumberField
  | BooleanField;
