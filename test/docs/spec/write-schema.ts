/**
 * Writes `docs/spec/schema.json`. Run it by `pnpm schema` when the types of the saga methods have
 * changed.
 */
import { writeFileSync } from 'node:fs';
import { generateSchema } from './generate.ts';
import { schemaFile } from './schema-file.ts';

writeFileSync(schemaFile, `${JSON.stringify(generateSchema(), undefined, 2)}\n`);
