import type { Database, Tables } from './database.ts';

/** Statements of each version of the tables. Each can run again. */
export function migrationsOf(tables: Tables): readonly (readonly string[])[] {
  return [
    [
      `CREATE TABLE IF NOT EXISTS ${tables.schema} (version INTEGER NOT NULL PRIMARY KEY)`,
      `CREATE TABLE IF NOT EXISTS ${tables.entries} (
  place TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  head TEXT,
  body TEXT,
  written_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  body_until BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  principal TEXT,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (place, name)
)`,
      `CREATE INDEX IF NOT EXISTS ${index(tables.entries)}_due ON ${tables.entries} (due_at)`,
      `CREATE INDEX IF NOT EXISTS ${index(tables.entries)}_charged ON ${tables.entries} (principal, due_at, bytes) WHERE principal IS NOT NULL`,
      `INSERT INTO ${tables.schema} (version) VALUES (1) ON CONFLICT DO NOTHING`,
    ],
  ];
}

/** Name of an index: it has the schema of its table. */
function index(table: string): string {
  return table.slice(table.indexOf('.') + 1);
}

/** Creates the missing tables. Several processes can do so at once. */
export async function createTables({ tables, execute }: Database): Promise<void> {
  for (const statement of migrationsOf(tables).flat()) {
    try {
      await execute(statement);
    } catch {
      // If two processes create a table of PostgreSQL at once, one fails, and finds the table the
      // next time.
      await execute(statement);
    }
  }
}

/** SQL of each version, as text. */
export function migrationTexts(tables: Tables): readonly string[] {
  return migrationsOf(tables).map(
    (statements, at) => `-- Tables of mcp-saga, version ${at + 1}\n${statements.join(';\n')};\n`,
  );
}
