import type { Database } from './database.ts';

/** Calls between two sweeps, and greatest number of rows that a statement of a sweep removes. */
const calls = 50;
const rows = 200;

/**
 * Returns a function to call before each write. The first call and each 50th removes up to 200
 * expired rows of a table.
 * @param statements - makes the statements from the condition of the rows
 */
export function sweeper(
  { execute }: Pick<Database, 'execute'>,
  statements: (limit: number) => readonly string[],
): () => Promise<void> {
  let count = 0;
  return async () => {
    count += 1;
    if (count % calls !== 1) return;
    for (const statement of statements(rows)) await execute(statement);
  };
}
