import { fileURLToPath } from 'node:url';
import { schemaOf, type JsonSchema } from './schema-of.ts';

/** Generates the schema of the saga methods from their types. */
export function generateSchema(): JsonSchema {
  return schemaOf(
    fileURLToPath(new URL('messages.ts', import.meta.url)),
    'urn:mcp-saga:saga-methods:1',
    'MCP saga methods',
  );
}
