/** The used part of `node:sqlite`, which Node 20 does not have. */
interface Statement {
  all(...values: readonly unknown[]): unknown[];
  get(...values: readonly unknown[]): unknown;
  run(...values: readonly unknown[]): unknown;
}
interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
}
interface Sqlite {
  readonly DatabaseSync: new (path: string) => Database;
}

/**
 * Opens a file with the SQLite of Node, for the checkpointer of LangGraph. It expects a database of
 * `better-sqlite3`, which npm would have to compile.
 */
export async function openForSqliteSaver(path: string): Promise<unknown> {
  const name: string = 'node:sqlite';
  const { DatabaseSync } = (await import(name)) as Sqlite;
  const database = new DatabaseSync(path);
  return {
    exec: (sql: string) => database.exec(sql),
    pragma: (pragma: string) => database.exec(`PRAGMA ${pragma}`),
    prepare: (sql: string) => {
      const statement = database.prepare(sql);
      const bound =
        (method: keyof Statement) =>
        (...values: readonly unknown[]): unknown =>
          statement[method](...values.map((value) => value ?? null));
      return { all: bound('all'), get: bound('get'), run: bound('run') };
    },
    transaction:
      <Values extends readonly unknown[]>(write: (...values: Values) => void) =>
      (...values: Values): void => {
        database.exec('BEGIN');
        try {
          write(...values);
          database.exec('COMMIT');
        } catch (error) {
          database.exec('ROLLBACK');
          throw error;
        }
      },
  };
}
