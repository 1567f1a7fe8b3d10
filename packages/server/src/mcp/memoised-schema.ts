import type { Schema } from '@mcp-saga/core';

const memoisedSchemas = new WeakMap<Schema, Schema>();

/**
 * A schema that derives its JSON Schema once. Stateless serving makes a server for each request, and the SDK asks each
 * of them anew: for a small tool that is half of what a call costs.
 */
export function memoised(schema: Schema): Schema {
  const known = memoisedSchemas.get(schema);
  if (known !== undefined) return known;
  const standard = schema['~standard'];
  const { jsonSchema } = standard;
  if (jsonSchema === undefined) return schema;
  const made: Schema = {
    '~standard': {
      ...standard,
      jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) },
    },
  };
  memoisedSchemas.set(schema, made);
  return made;
}

function once<O extends { readonly target: string }, R>(derive: (options: O) => R): (options: O) => R {
  const made = new Map<string, R>();
  return (options) => {
    const key = JSON.stringify(options);
    let schema = made.get(key);
    if (schema === undefined) {
      schema = derive(options);
      made.set(key, schema);
    }
    return schema;
  };
}
