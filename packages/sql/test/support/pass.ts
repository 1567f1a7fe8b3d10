const columns: { readonly [table: string]: readonly string[] } = {
  entries: ['written_at', 'body_until', 'expires_at', 'due_at'],
};

/**
 * Lets time pass for all that is stored: the clock of a database cannot be set, so the rows are
 * moved into the past.
 */
export async function pass(
  run: (sql: string) => unknown,
  prefix: string,
  ms: number,
): Promise<void> {
  for (const [table, names] of Object.entries(columns)) {
    const sets = names.map((name) => `${name} = ${name} - ${Math.round(ms)}`).join(', ');
    await run(`UPDATE ${prefix}${table} SET ${sets}`);
  }
}
