/**
 * Lists in the table of entries, one row for each group, so that the lock of the row orders all
 * additions, and the bytes of a principal are one sum. Each method is one statement, except
 * `discard`, which takes ten values at a time.
 *
 * The body has a line for each value: its name and text, each as one word before a space. The head
 * says whether the list is open. No entry has the name of the row, which is no word.
 */
import type { Appended, ListedValue, SagaStore } from '@mcp-saga/server/stores';
import type { Database } from './database.ts';
import { keyOf, textOf, wordOf } from './sql-text.ts';

/** Name of the rows of lists. */
const listName = '%list';

/** Creates the lists of a store. */
export function sqlLists(
  { run, dialect: { now, contains }, tables: { entries } }: Database,
  sweep: () => Promise<void>,
): Pick<SagaStore, 'append' | 'list' | 'discard' | 'close'> {
  const isExpired = `stored.expires_at <= ${now}`;
  const size = `length(stored.body) - length(replace(stored.body, '\n', ''))`;
  const later = `CASE WHEN stored.expires_at > excluded.expires_at THEN stored.expires_at ELSE excluded.expires_at END`;
  const columns =
    'place, name, version, head, body, written_at, expires_at, body_until, due_at, principal, bytes';
  /** Values: group, line, expiry, begin of the line, greatest number of values, principal, bytes. */
  const isOpen = `stored.head = 'open' AND CAST($3 AS BIGINT) > ${now} AND ${size} < CAST($5 AS BIGINT) AND NOT ${contains('stored.body', 'CAST($4 AS TEXT)')}`;
  const when = (anew: string, added: string, kept: string): string =>
    `CASE WHEN ${isExpired} THEN ${anew} WHEN ${isOpen} THEN ${added} ELSE ${kept} END`;
  const append = `INSERT INTO ${entries} AS stored (${columns})
VALUES (CAST($1 AS TEXT), '${listName}', 1, 'open', CAST($2 AS TEXT), ${now}, CAST($3 AS BIGINT), CAST($3 AS BIGINT),
  CAST($3 AS BIGINT), CAST($6 AS TEXT), CAST($7 AS BIGINT))
ON CONFLICT (place, name) DO UPDATE SET
  head = ${when("'open'", 'stored.head', 'stored.head')},
  body = ${when('excluded.body', 'stored.body || excluded.body', 'stored.body')},
  bytes = ${when('excluded.bytes', 'stored.bytes + excluded.bytes', 'stored.bytes')},
  principal = ${when('excluded.principal', 'COALESCE(excluded.principal, stored.principal)', 'stored.principal')},
  ${lives(when('excluded.expires_at', later, 'stored.expires_at'))}
RETURNING CASE WHEN ${contains('body', 'CAST($2 AS TEXT)')} THEN 'added'
  WHEN ${contains('body', 'CAST($4 AS TEXT)')} THEN 'taken' WHEN head = 'closed' THEN 'closed' ELSE 'full' END AS result,
  ${now} AS now`;
  const isList = `place = CAST($1 AS TEXT) AND name = '${listName}'`;
  const list = `SELECT head, body FROM ${entries} WHERE ${isList} AND expires_at > ${now}`;
  const close = `INSERT INTO ${entries} AS stored (${columns})
VALUES (CAST($1 AS TEXT), '${listName}', 1, 'closed', '', ${now}, CAST($2 AS BIGINT), CAST($2 AS BIGINT), CAST($2 AS BIGINT), NULL, 0)
ON CONFLICT (place, name) DO UPDATE SET head = 'closed', body = CASE WHEN ${isExpired} THEN '' ELSE stored.body END,
  bytes = CASE WHEN ${isExpired} THEN 0 ELSE stored.bytes END, ${lives(later)}
RETURNING 1`;
  /** Statement that removes a number of lines. Values: group, then each line and its bytes. */
  const discard = (count: number): string => {
    const given = Array.from({ length: count }, (_, at) => ({
      line: `CAST($${2 * at + 2} AS TEXT)`,
      bytes: `CAST($${2 * at + 3} AS BIGINT)`,
    }));
    const rest = given.reduce((text, { line }) => `REPLACE(${text}, ${line}, '')`, 'body');
    const removed = given.map(
      ({ line, bytes }) => `CASE WHEN ${contains('body', line)} THEN ${bytes} ELSE 0 END`,
    );
    return `UPDATE ${entries} SET body = ${rest}, bytes = bytes - (${removed.join(' + ')}) WHERE ${isList} RETURNING 1`;
  };
  return {
    append: async ({ group, name }, value, { expiresAtMs, maxValues, chargeTo }) => {
      await sweep();
      const values = [
        await keyOf(group),
        lineOf({ name, value }),
        Math.ceil(expiresAtMs),
        `\n${wordOf(name)} `,
        maxValues,
        chargeTo === undefined ? null : await keyOf(chargeTo),
        value.length,
      ];
      const [row = {}] = await run(append, values);
      const { result, now: time } = row;
      if (result === 'taken' || result === 'closed') return result;
      if (expiresAtMs <= Number(time)) {
        throw new Error(
          'The value would expire at once: the clock of the database is ahead. Synchronize the clocks.',
        );
      }
      if (result === 'added' || result === 'full') return result satisfies Appended;
      throw new TypeError('Unexpected reply from the database of the store.');
    },
    list: async (group) => {
      const [row] = await run(list, [await keyOf(group)]);
      if (row === undefined) return { values: [], isClosed: false };
      const values = String(row['body'])
        .split('\n')
        .slice(1)
        .map((line) => {
          const [name = '', value = ''] = line.split(' ').map(textOf);
          return { name, value };
        });
      return { values, isClosed: row['head'] === 'closed' };
    },
    discard: async (group, values) => {
      const lines = new Map(values.map((one) => [lineOf(one), one.value.length]));
      const all = [...lines];
      // SQLite bounds the depth of an expression.
      for (let at = 0; at < all.length; at += 10) {
        const some = all.slice(at, at + 10);
        await run(discard(some.length), [await keyOf(group), ...some.flat()]);
      }
    },
    close: async (group, expiresAtMs) =>
      void (await run(close, [await keyOf(group), Math.ceil(expiresAtMs)])),
  };
}

/** Sets each time at which the row goes: nothing of a list goes earlier. */
function lives(time: string): string {
  return ['expires_at', 'body_until', 'due_at'].map((column) => `${column} = ${time}`).join(', ');
}

/** Line of a value in the text of a list. */
function lineOf({ name, value }: ListedValue): string {
  return `\n${wordOf(name)} ${wordOf(value)} `;
}
