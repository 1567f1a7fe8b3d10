/**
 * Writes `docs/spec/schema.json`. Run it by `pnpm generate schema` when the types of the saga
 * methods have changed.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generateSchema } from './generate.ts';
import { schemaFile } from './schema-file.ts';

writeFileSync(schemaFile, `${JSON.stringify(generateSchema(), undefined, 2)}\n`);
const oxfmt = new URL('../../../node_modules/.bin/oxfmt', import.meta.url);
execFileSync(fileURLToPath(oxfmt), [fileURLToPath(schemaFile)]);
