/** File of the generated schema. */
export const schemaFile: URL = new URL('../../../docs/spec/schema.json', import.meta.url);
