/** What every tool may be called with where calls go on by resume tokens; seal leaves them out of its digest as well. */
const reservedArguments = ['resumeToken', 'answers'] as const;

type JsonSchema = { readonly [key: string]: unknown };

/** Throws a `TypeError` where a schema of arguments has a field of such a name: nobody could tell whose it is. (T14) */
export function assertNotReserved(saga: string, schema: JsonSchema): void {
  const taken = reservedArguments.find((name) => hasField(schema, name, schema, new Set()));
  if (taken !== undefined) {
    throw new TypeError(
      `Saga '${saga}', input: the field '${taken}' has a name that is reserved: clients go on with a call by the ` +
        `arguments ${reservedArguments.join(' and ')}. Rename it.`,
    );
  }
}

function hasField(schema: JsonSchema, name: string, root: JsonSchema, seen: Set<JsonSchema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { properties } = schema;
  if (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)) return true;
  return partsOf(schema, root).some((part) => hasField(part, name, root, seen));
}

/** The schemas that hold for the same object. */
function partsOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as readonly JsonSchema[]);
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return parts;
  const definitions = (root['$defs'] ?? {}) as { readonly [name: string]: JsonSchema };
  const referred = reference === '#' ? root : definitions[reference.replace('#/$defs/', '')];
  return referred === undefined ? parts : [...parts, referred];
}
