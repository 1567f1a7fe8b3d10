/**
 * Corrects what zod writes about `.catch(value)`. It lists a caught field as required, with the value
 * as its default. But the field may be left out, and the value replaces wrong input, too: shown as a
 * default, it would be sent as the choice of a user who chose nothing.
 */

/** The part of a zod schema that is read here, known by its structure. */
interface ZodSchema {
  readonly _zod: { readonly def: Definition };
}

interface Definition {
  readonly type: string;
  /** Inner schema of a wrapper, such as `nullable`. */
  readonly innerType?: ZodSchema;
  /** First schema of a pipe. */
  readonly in?: ZodSchema;
  readonly shape?: { readonly [name: string]: ZodSchema };
  readonly defaultValue?: unknown;
}

function definitionOf({ _zod: { def } }: ZodSchema): Definition {
  return def;
}

/** A schema of zod, and what zod wrote about it. */
export interface WrittenByZod {
  readonly zodSchema: object;
  readonly jsonSchema: { [key: string]: unknown };
}

/** Options of the function of zod that writes JSON Schema. */
export interface ZodOptions {
  readonly override: (written: WrittenByZod) => void;
  /** Says what to write for a schema that JSON Schema lacks. */
  readonly unrepresentable?: (found: { readonly zodSchema: object }) => 'any' | 'throw';
}

/**
 * Writes a schema of zod, whatever its `.catch` functions do. To find the caught value, zod calls
 * such a function without its context, and refuses the schema if the function reads it. The value
 * is not written in any case, so that this failure means nothing.
 */
export function writeZod<T>(io: 'input' | 'output', write: (options: ZodOptions) => T): T {
  const override = overrideOf(io);
  try {
    return write({ override });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('Dynamic catch')) throw error;
    // Only now: a zod that does not know a function here would write any type as `{}`.
    const unrepresentable: ZodOptions['unrepresentable'] = ({ zodSchema }) =>
      definitionOf(zodSchema as ZodSchema).type === 'catch' ? 'any' : 'throw';
    return write({ override, unrepresentable });
  }
}

/** Returns the option `override` of zod, for one direction. */
function overrideOf(io: 'input' | 'output'): (written: WrittenByZod) => void {
  return ({ zodSchema, jsonSchema }) => {
    const def = definitionOf(zodSchema as ZodSchema);
    if (def.type === 'catch') {
      delete jsonSchema['default'];
      const own = layersOf(zodSchema as ZodSchema).find(
        ({ type }) => type === 'default' || (type === 'prefault' && io === 'input'),
      );
      if (own !== undefined) jsonSchema['default'] = own.defaultValue;
    }
    const { required } = jsonSchema;
    if (io === 'output' || !Array.isArray(required) || def.shape === undefined) return;
    const { shape } = def;
    const left = required.filter((name: string) => {
      const field = shape[name];
      return field === undefined || !layersOf(field).some(({ type }) => type === 'catch');
    });
    if (left.length === 0) delete jsonSchema['required'];
    else jsonSchema['required'] = left;
  };
}

/** Definitions of a schema and of the schemas that it wraps, from the outside in. */
function layersOf(schema: ZodSchema): readonly Definition[] {
  const layers: Definition[] = [];
  let at: ZodSchema | undefined = schema;
  while (at !== undefined) {
    const def: Definition = definitionOf(at);
    layers.push(def);
    at = def.innerType ?? def.in;
  }
  return layers;
}
