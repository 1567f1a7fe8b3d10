/** SQL that differs between databases. */
export interface Dialect {
  /**
   * Time of the database, in milliseconds since the epoch. The same value everywhere in one
   * statement.
   */
  readonly now: string;
  /** Pattern of the prefix of all tables. */
  readonly prefix: RegExp;
  /** Condition: one text contains another. */
  readonly contains: (text: string, part: string) => string;
  /**
   * Condition: the row is among the first rows of a table that are due, by an indexed column. Skips
   * the rows of other statements.
   */
  readonly isDue: (table: string, column: string, condition: string, limit: number) => string;
}

export const postgres: Dialect = {
  now: '(CAST(floor(extract(epoch FROM statement_timestamp()) * 1000) AS BIGINT))',
  prefix: /^(?:[a-z_][a-z0-9_]{0,40}\.)?[a-z_][a-z0-9_]{0,40}$/,
  contains: (text, part) => `(strpos(${text}, ${part}) > 0)`,
  // Two processes that remove the same rows would wait for each other. Without the order, a table
  // without statistics would be read from its beginning to its end.
  isDue: (table, column, condition, limit) =>
    `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} ORDER BY ${column} LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
};

export const sqlite: Dialect = {
  now: "(CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))",
  prefix: /^[a-z_][a-z0-9_]{0,40}$/,
  contains: (text, part) => `(instr(${text}, ${part}) > 0)`,
  isDue: (table, column, condition, limit) =>
    `rowid IN (SELECT rowid FROM ${table} WHERE ${condition} ORDER BY ${column} LIMIT ${limit})`,
};
