import type { TaskStore } from '@mcp-saga/server/stores';
import type { Database } from './database.ts';
import { sweeper } from './sweep.ts';
import { keyOf, textOf, wordOf } from './sql-text.ts';

/** Creates a task store. Each method is one statement. */
export function sqlTaskStore(database: Database): TaskStore {
  const {
    run,
    dialect: { now, isAmong },
    tables: { tasks },
  } = database;
  const sweep = sweeper(database, (limit) => [
    `DELETE FROM ${tasks} WHERE ${isAmong(tasks, `expires_at <= ${now}`, limit)} RETURNING 1`,
  ]);
  const read = `SELECT version, sealed FROM ${tasks} WHERE task = $1 AND expires_at > ${now}`;
  // A repeated call after a lost reply finds its own version: two records never seal to the same
  // bytes.
  const insert = `INSERT INTO ${tasks} AS kept (task, version, sealed, expires_at)
VALUES (CAST($1 AS TEXT), 1, CAST($2 AS TEXT), CAST($3 AS BIGINT))
ON CONFLICT (task) DO UPDATE SET version = 1, sealed = excluded.sealed, expires_at = excluded.expires_at
WHERE kept.expires_at <= ${now} OR (kept.version = 1 AND kept.sealed = excluded.sealed)
RETURNING version`;
  const update = `UPDATE ${tasks} SET version = CAST($4 AS BIGINT) + 1, sealed = CAST($2 AS TEXT), expires_at = CAST($3 AS BIGINT)
WHERE task = $1 AND expires_at > ${now}
  AND (version = CAST($4 AS BIGINT) OR (version = CAST($4 AS BIGINT) + 1 AND sealed = CAST($2 AS TEXT)))
RETURNING version`;
  return {
    read: async (id) => {
      const [row] = await run(read, [await keyOf(id)]);
      return row && { version: Number(row['version']), sealed: textOf(row['sealed']) };
    },
    write: async (id, sealed, expected, expiresAt) => {
      await sweep();
      const values = [await keyOf(id), wordOf(sealed), Math.ceil(expiresAt)];
      const rows = await (expected === 0
        ? run(insert, values)
        : run(update, [...values, expected]));
      return rows.length > 0;
    },
  };
}
