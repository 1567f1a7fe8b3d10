/**
 * Entries in a table: group, name, version, head, and body. Each method is one statement, and a
 * write that another write prevented reads what is stored.
 *
 * A removed entry stays as a row without a head until it expires, so that the next version of its
 * key is greater, even within one millisecond. A row also loses its body at `body_until`. A sweep
 * removes such rows and bodies later; every statement ignores them before.
 */
import {
  skewMs,
  type Entry,
  type EntryKey,
  type SagaStore,
  type Written,
} from '@mcp-saga/server/stores';
import type { Database, Row } from './database.ts';
import type { SqlValue } from './sql-clients.ts';
import { keyOf, textOf, wordOf } from './sql-text.ts';
import { sweeper } from './sweep.ts';

/** Returns the function that removes expired rows, to call before each write. */
export function sweepOf(database: Database): () => Promise<void> {
  return sweeper(database, statementsOf(database).sweep);
}

/** Creates the entries of a store. */
export function sqlEntries(
  database: Database,
  sweep: () => Promise<void>,
): Pick<SagaStore, 'write' | 'remove' | 'read'> {
  const { run } = database;
  const statements = statementsOf(database);
  const insert = async (values: readonly SqlValue[], limit: number | null) =>
    await (limit === null
      ? run(statements.insert, values)
      : run(statements.insertWithin, [...values, limit]));
  return {
    write: async (key, value, expected, bounds): Promise<Written> => {
      await sweep();
      const { expiresAtMs, bodyExpiresAtMs = expiresAtMs, charge, nowMs: hostTime } = bounds;
      const outdated = bounds.outdated === undefined ? undefined : await keyOf(bounds.outdated);
      const place = await placeOf(key);
      const limit = limitOf(charge?.limit);
      const values = [
        ...place,
        wordOf(value.head),
        value.body === undefined ? null : wordOf(value.body),
        Math.ceil(expiresAtMs),
        Math.ceil(Math.min(bodyExpiresAtMs, expiresAtMs)),
        charge === undefined ? null : await keyOf(charge.to),
        value.body?.length ?? 0,
        hostTime === undefined ? null : Math.ceil(hostTime),
      ];
      // No row for the first time: another write may have removed what was in the way.
      for (let isLast = false; ; isLast = true) {
        const rows = await (expected === 0
          ? insert(values, limit)
          : outdated === undefined
            ? run(statements.update, [...values, expected])
            : run(statements.updateTwo, [...values, expected, outdated]));
        const row = rows.find(({ name }) => outdated === undefined || name !== outdated);
        if (row !== undefined)
          return { status: 'written', version: Number(row['version']), nowMs: Number(row['now']) };
        const [stored = {}] = await run(statements.read, place);
        const nowMs = Number(stored['now']);
        assertClocks(hostTime, nowMs);
        const entry = entryOf(stored);
        // The driver repeated the call, because the reply was lost: two calls never write one value.
        if (entry !== undefined && entry.head === value.head && entry.body === value.body)
          return { status: 'written', version: entry.version, nowMs };
        if (entry !== undefined || expected !== 0) return { status: 'other', entry, nowMs };
        if (expiresAtMs <= nowMs) throw new Error(ahead);
        if (isLast)
          return limit === null ? { status: 'other', entry, nowMs } : { status: 'full', nowMs };
      }
    },
    remove: async (key, expected) =>
      (await run(statements.remove, [...(await placeOf(key)), expected])).length > 0,
    read: async (key) => {
      const [row = {}] = await run(statements.read, await placeOf(key));
      return entryOf(row);
    },
  };
}

const ahead =
  'The entry would expire at once: the clock of the database is ahead. Synchronize the clocks.';

/** @throws Error if the clocks of the host and the database differ too much */
function assertClocks(hostTime: number | undefined, nowMs: number): void {
  if (hostTime === undefined || Math.abs(nowMs - hostTime) <= skewMs) return;
  throw new Error(
    `The clocks of the database and of this host differ by more than ${skewMs / 1_000} s. Synchronize the clocks.`,
  );
}

async function placeOf({ group, name }: EntryKey): Promise<[string, string]> {
  return [await keyOf(group), await keyOf(name)];
}

/** Databases have no greater number than this. */
function limitOf(limit: number | undefined): number | null {
  return limit === undefined || limit >= Number.MAX_SAFE_INTEGER ? null : limit;
}

function entryOf(row: Row): Entry | undefined {
  const { version, head, body, written_at: writtenAtMs } = row;
  if (head === null || head === undefined) return undefined;
  return {
    head: textOf(head),
    body: body === null || body === undefined ? undefined : textOf(body),
    version: Number(version),
    writtenAtMs: Number(writtenAtMs),
  };
}

/** Greater of two numbers. */
function later(one: string, other: string): string {
  return `CASE WHEN ${one} > ${other} THEN ${one} ELSE ${other} END`;
}

function statementsOf({ dialect, tables }: Pick<Database, 'dialect' | 'tables'>): {
  readonly insert: string;
  readonly insertWithin: string;
  readonly update: string;
  readonly updateTwo: string;
  readonly remove: string;
  readonly read: string;
  readonly sweep: (limit: number) => readonly string[];
} {
  const { now } = dialect;
  const { entries } = tables;
  const isKey = 'place = CAST($1 AS TEXT) AND name = CAST($2 AS TEXT)';
  const isLive = `head IS NOT NULL AND expires_at > ${now}`;
  const dueAt =
    'CASE WHEN CAST($4 AS TEXT) IS NULL THEN CAST($5 AS BIGINT) ELSE CAST($6 AS BIGINT) END';
  const areClocksGood = `CAST($5 AS BIGINT) > ${now}
  AND (CAST($9 AS BIGINT) IS NULL OR abs(${now} - CAST($9 AS BIGINT)) <= ${skewMs})`;
  const columns = 'head, body, written_at, expires_at, body_until, due_at, principal, bytes';
  const written = `CAST($3 AS TEXT), CAST($4 AS TEXT), ${now}, CAST($5 AS BIGINT), CAST($6 AS BIGINT), ${dueAt},
  CAST($7 AS TEXT), CAST($8 AS BIGINT)`;
  /** What an update sets in each column. */
  const changes = [
    ['head', 'CAST($3 AS TEXT)'],
    ['body', 'CAST($4 AS TEXT)'],
    ['written_at', now],
    ['expires_at', 'CAST($5 AS BIGINT)'],
    ['body_until', 'CAST($6 AS BIGINT)'],
    ['due_at', dueAt],
    ['principal', 'CAST($7 AS TEXT)'],
    ['bytes', 'CAST($8 AS BIGINT)'],
    ['version', `${later(now, 'version')} + 1`],
  ] as const;
  /** What an outdated entry has in columns that do not stay. */
  const leftOfOutdated: { readonly [column: string]: string } = {
    body: 'NULL',
    bytes: '0',
    due_at: 'expires_at',
  };
  const isUpdated = `${isLive} AND version = CAST($10 AS BIGINT) AND ${areClocksGood}`;
  const anew = columns
    .split(', ')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ');
  const insertIf = (condition: string): string =>
    `INSERT INTO ${entries} AS stored (place, name, version, ${columns})
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), ${now}, ${written}
WHERE ${condition}
ON CONFLICT (place, name) DO UPDATE SET ${anew}, version = ${later('excluded.version', 'stored.version + 1')}
WHERE stored.head IS NULL OR stored.expires_at <= ${now}
RETURNING version, ${now} AS now`;
  return {
    /**
     * Values: group, name, head, body, expiry, expiry of the body, principal, bytes, time of the
     * host. No row if a live entry exists, or a clock is wrong.
     */
    insert: insertIf(areClocksGood),
    /**
     * The same values, with the limit of the principal as the last. No row if the principal is at
     * the limit. A statement of its own: with a limit that may be NULL, PostgreSQL plans each call
     * anew.
     */
    insertWithin: insertIf(`${areClocksGood}
  AND CAST($10 AS BIGINT) > (SELECT COALESCE(SUM(charged.bytes), 0) FROM ${entries} AS charged
    WHERE charged.principal = CAST($7 AS TEXT) AND charged.due_at > ${now})`),
    /** The values of `insert`, with the expected version as the last. */
    update: `UPDATE ${entries} SET ${changes.map(([column, value]) => `${column} = ${value}`).join(', ')}
WHERE ${isKey} AND ${isUpdated}
RETURNING version, name, ${now} AS now`,
    /**
     * The values of `update`, with the name of an outdated entry as the last, whose body goes
     * whether or not the other row is there. A statement of its own for the planner.
     */
    updateTwo: `UPDATE ${entries} SET ${changes
      .map(([column, value]) => {
        const left = leftOfOutdated[column] ?? column;
        return `${column} = CASE WHEN name = CAST($2 AS TEXT) THEN ${value} ELSE ${left} END`;
      })
      .join(', ')}
WHERE place = CAST($1 AS TEXT) AND name IN (CAST($2 AS TEXT), CAST($11 AS TEXT))
  AND (name = CAST($11 AS TEXT) OR (${isUpdated}))
RETURNING version, name, ${now} AS now`,
    /** Values: group, name, expected version. A repeated call finds what it has removed. */
    remove: `UPDATE ${entries} SET head = NULL, body = NULL, bytes = 0
WHERE ${isKey} AND expires_at > ${now} AND version = CAST($3 AS BIGINT) RETURNING version`,
    /** Values: group, name. One row, with the time of the database. */
    read: `SELECT clock.now AS now, stored.version, stored.written_at,
  CASE WHEN stored.expires_at > clock.now THEN stored.head END AS head,
  CASE WHEN stored.body_until > clock.now THEN stored.body END AS body
FROM (SELECT ${now} AS now) AS clock LEFT JOIN ${entries} AS stored ON ${isKey}`,
    sweep: (limit) => {
      // Both statements look at the first due rows of either kind. A statement that looked for one
      // kind alone would pass all due rows of the other, which are many after a burst.
      const isFirst = dialect.isDue(entries, 'due_at', `due_at <= ${now}`, limit);
      return [
        `DELETE FROM ${entries} WHERE ${isFirst} AND expires_at <= ${now}`,
        `UPDATE ${entries} SET body = NULL, bytes = 0, due_at = expires_at
WHERE ${isFirst} AND expires_at > ${now}`,
      ];
    },
  };
}
