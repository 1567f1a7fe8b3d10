interface FieldBase {
  title?: string;
  description?: string;
}

/** A line of text. */
export interface TextField extends FieldBase {
  type: 'string';
  minLength?: number;
  maxLength?: number;
  format?: 'email' | 'uri' | 'date' | 'date-time';
  default?: string;
}

/** One of several texts; `enumNames` are what the user reads. */
export interface EnumField extends FieldBase {
  type: 'string';
  enum: string[];
  enumNames?: string[];
  default?: string;
}

/** One of several texts, each with what the user reads. */
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

/** Any number of several texts. */
export interface EnumsField extends ManyBase {
  items: { type: 'string'; enum: string[] };
}

/** Any number of several texts, each with what the user reads. */
export interface ChoicesField extends ManyBase {
  items: { anyOf: { const: string; title: string }[] };
}

/** A number. */
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

/** One field of a form: MCP's flat subset of JSON Schema (`PrimitiveSchemaDefinition`). */
export type FormField =
  | TextField
  | EnumField
  | ChoiceField
  | EnumsField
  | ChoicesField
  | NumberField
  | BooleanField;
