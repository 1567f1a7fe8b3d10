/** The names of all options of a type. */
export type NamesOf<Options> = { readonly [name in keyof Options]-?: true };

/**
 * Refuses an option that does not exist: a misspelled one would be ignored in silence.
 *
 * @param of - the function, or the object, that the error names
 * @throws TypeError that names the option, one that is like it, and all there are
 */
export function assertKnownOptions(of: string, options: object, names: object): void {
  const known = Object.keys(names);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = known.find((name) => isNear(unknown.toLowerCase(), name.toLowerCase(), 2));
  const hint = meant === undefined ? '' : `Did you mean '${meant}'? `;
  throw new TypeError(`${of} has no option '${unknown}'. ${hint}Its options are: ${known.join(', ')}.`);
}

/** `true` if some characters, at most `edits`, have to be inserted, deleted, or replaced to make one text of another. */
function isNear(one: string, other: string, edits: number): boolean {
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one === other || one[0] === other[0]) return one === other || isNear(rest, otherRest, edits);
  return (
    edits > 0 &&
    (isNear(rest, other, edits - 1) ||
      isNear(one, otherRest, edits - 1) ||
      isNear(rest, otherRest, edits - 1))
  );
}
