import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { schemaFile } from './schema-file.ts';

const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as { readonly $id: string };
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
ajv.addSchema(schema);
const validators = new Map<string, ValidateFunction>();

/** Returns what is wrong with a message, by the published schema. Empty: nothing. */
export function problemsOf(name: string, message: unknown): readonly string[] {
  const validate = validators.get(name) ?? ajv.compile({ $ref: `${schema.$id}#/$defs/${name}` });
  validators.set(name, validate);
  if (validate(message)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message: problem }) => `${instancePath} ${problem}`,
  );
}
