/** The names of all options of a type. */
export type NamesOf<Options> = { readonly [name in keyof Options]-?: true };

/**
 * Refuses an option that does not exist: a misspelled one would be ignored in silence.
 *
 * @param of - the function, or the object, that the error names
 * @throws TypeError that names the option, the nearest one, and all there are
 */
export function assertKnownOptions(of: string, options: object, names: object): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${of}: expected an object`);
  const known = Object.keys(names);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const away = (name: string): number => distance(unknown.toLowerCase(), name.toLowerCase());
  const [nearest = ''] = known.toSorted((one, other) => away(one) - away(other));
  const hint = away(nearest) > Math.max(2, unknown.length / 3) ? '' : `Did you mean '${nearest}'? `;
  throw new TypeError(`${of} has no option '${unknown}'. ${hint}Its options are: ${known.join(', ')}.`);
}

/** Number of characters to insert, delete, or replace, to make one text of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of Array.from(one).entries()) {
    const next = [index + 1];
    for (const [column, above = 0] of row.slice(1).entries()) {
      const replaced = (row[column] ?? 0) + (character === other[column] ? 0 : 1);
      next.push(Math.min(above + 1, (next[column] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
