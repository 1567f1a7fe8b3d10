import type { Mailbox } from '@mcp-saga/server/stores';
import type { Database } from './database.ts';
import { sweeper } from './sweep.ts';
import { keyOf, textOf, wordOf } from './sql-text.ts';

/**
 * Creates a mailbox. Each method is one statement. A box is one row, so the lock of the row orders
 * all answers. The answers are lines: slot and sealed answer, each as one word before a space.
 */
export function sqlMailbox(database: Database): Mailbox {
  const {
    run,
    dialect: { now, contains, isDue },
    tables: { boxes },
  } = database;
  const sweep = sweeper(database, (limit) => [
    `DELETE FROM ${boxes} WHERE ${isDue(boxes, 'expires_at', `expires_at <= ${now}`, limit)}`,
  ]);
  const isExpired = `kept.expires_at <= ${now}`;
  const later = `CASE WHEN kept.expires_at > excluded.expires_at THEN kept.expires_at ELSE excluded.expires_at END`;
  /** Values: box, line, expiry, begin of the line, greatest number of answers. */
  const isOpen = `kept.is_closed = 0 AND kept.size < CAST($5 AS BIGINT) AND NOT ${contains('kept.answers', 'CAST($4 AS TEXT)')}`;
  const set = (column: string, stored: string): string =>
    `${column} = CASE WHEN ${isExpired} THEN excluded.${column} WHEN ${isOpen} THEN ${stored} ELSE kept.${column} END`;
  const put = `INSERT INTO ${boxes} AS kept (box, answers, size, is_closed, expires_at)
VALUES (CAST($1 AS TEXT), CAST($2 AS TEXT), 1, 0, CAST($3 AS BIGINT))
ON CONFLICT (box) DO UPDATE SET ${set('answers', 'kept.answers || excluded.answers')}, ${set('size', 'kept.size + 1')},
  ${set('is_closed', '0')}, ${set('expires_at', later)}
RETURNING CASE WHEN ${contains('answers', 'CAST($2 AS TEXT)')} THEN 'stored'
  WHEN ${contains('answers', 'CAST($4 AS TEXT)')} THEN 'taken' WHEN is_closed = 1 THEN 'closed' ELSE 'full' END AS result,
  ${now} AS now`;
  const list = `SELECT answers, is_closed FROM ${boxes} WHERE box = $1 AND expires_at > ${now}`;
  const close = `INSERT INTO ${boxes} AS kept (box, answers, size, is_closed, expires_at)
VALUES (CAST($1 AS TEXT), '', 0, 1, CAST($2 AS BIGINT))
ON CONFLICT (box) DO UPDATE SET answers = CASE WHEN ${isExpired} THEN '' ELSE kept.answers END,
  size = CASE WHEN ${isExpired} THEN 0 ELSE kept.size END, is_closed = 1, expires_at = ${later}
RETURNING 1`;
  /** Statement that removes a number of lines. Values: box, lines. */
  const remove = (count: number): string => {
    const lines = Array.from({ length: count }, (_, at) => `CAST($${at + 2} AS TEXT)`);
    const rest = lines.reduce((text, line) => `REPLACE(${text}, ${line}, '')`, 'answers');
    const found = lines.map((line) => `CASE WHEN ${contains('answers', line)} THEN 1 ELSE 0 END`);
    return `UPDATE ${boxes} SET answers = ${rest}, size = size - (${found.join(' + ')}) WHERE box = $1 RETURNING 1`;
  };
  return {
    put: async (box, slot, sealed, { expiresAt, maxAnswers }) => {
      await sweep();
      const values = [
        await keyOf(box),
        lineOf(slot, sealed),
        Math.ceil(expiresAt),
        `\n${wordOf(slot)} `,
        maxAnswers,
      ];
      const [row = {}] = await run(put, values);
      const { result, now: time } = row;
      if (result === 'taken' || result === 'closed' || result === 'full') return result;
      if (expiresAt <= Number(time)) {
        throw new Error(
          'The answer would expire at once: the clock of the database is ahead. Synchronize the clocks.',
        );
      }
      if (result === 'stored') return result;
      throw new TypeError('Unexpected reply from the database of the mailbox.');
    },
    list: async (box) => {
      const [row] = await run(list, [await keyOf(box)]);
      if (row === undefined) return { answers: [], isClosed: false };
      const lines = String(row['answers']).split('\n').slice(1);
      const answers = lines.map((line) => {
        const [slot, sealed] = line.split(' ').map(textOf);
        return { slot: slot ?? '', sealed: sealed ?? '' };
      });
      return { answers, isClosed: Number(row['is_closed']) === 1 };
    },
    remove: async (box, answers) => {
      const lines = [...new Set(answers.map(({ slot, sealed }) => lineOf(slot, sealed)))];
      // SQLite bounds the depth of an expression.
      for (let at = 0; at < lines.length; at += 10) {
        const some = lines.slice(at, at + 10);
        await run(remove(some.length), [await keyOf(box), ...some]);
      }
    },
    close: async (box, expiresAt) =>
      void (await run(close, [await keyOf(box), Math.ceil(expiresAt)])),
  };
}

/** Line of an answer in the text of a box. */
function lineOf(slot: string, sealed: string): string {
  return `\n${wordOf(slot)} ${wordOf(sealed)} `;
}
